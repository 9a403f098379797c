import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { sha256 } from '../../src/lib/digest.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { findSimilar, hashesOfRecord, type Candidate } from '../../src/plan/rename-detection.ts'
import { createRecordIndex, similarKeys } from '../../src/reconcile/state/record-indexes.ts'
import { recordedPipe } from '../plan/inputs.ts'

/** A pipe: few services, names and bodies, so that similar ones are common. */
const body = fc.record({
  key: fc.constantFrom<Key>('Pipe/a', 'Pipe/b', 'Pipe/c', 'Pipe/d'),
  service: fc.constantFrom('s-1', 'S-1'),
  name: fc.constantFrom('x', 'y'),
  topics: fc.constantFrom('t', 'u'),
  replicas: fc.constantFrom('1', '2'),
  hasPipe: fc.constantFrom(true, true, false),
})

type Body = typeof body extends fc.Arbitrary<infer T> ? T : never

const step = fc.oneof(
  body.map((what) => ({ type: 'put' as const, what })),
  body.map((what) => ({ type: 'drop' as const, what })),
  body.map((what) => ({ type: 'ask' as const, what })),
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** What makes it that pipe. */
const IDENTITY = ['source.kafka.brokers', 'source.kafka.topics', 'destination.table']

function fingerprintOf({ name, topics, replicas }: Body) {
  const fields = {
    name: sha256(name),
    'source.kafka.brokers': 'b',
    'source.kafka.topics': sha256(topics),
    replicas,
  }
  return { digest: sha256(`${name} ${topics} ${replicas}`), fields, secrets: {} }
}

/** As a ledger may give it back: its fields in another order. */
function recordOf(what: Body): LedgerRecord {
  const { fields, ...fingerprint } = fingerprintOf(what)
  return {
    ...blankRecord(what.key),
    version: 1,
    service: { name: 'any', organizationId: 'o', serviceId: what.service },
    platformName: what.name,
    applied: { ...fingerprint, fields: Object.fromEntries(Object.entries(fields).toReversed()) },
    remote: what.hasPipe ? recordedPipe('p') : undefined,
  }
}

function candidateOf(what: Body): Candidate {
  const { key, service: serviceId, name: platformName } = what
  return { key, serviceId, platformName, fingerprint: fingerprintOf(what), identity: IDENTITY }
}

/** What the index finds for each candidate on the way, and what comparing every record finds. */
function told(steps: readonly Step[]) {
  const records = new Map<Key, LedgerRecord>()
  const all = () => records.values()
  const index = createRecordIndex(all, (record) => hashesOfRecord(record, IDENTITY))
  return steps.flatMap(({ type, what }) => {
    if (type === 'ask') {
      const candidate = candidateOf(what)
      const found = similarKeys(index, candidate).flatMap((key) => records.get(key) ?? [])
      const others = [...records.values()].filter(({ key }) => key !== what.key)
      const inOrder = others.toSorted((a, b) => (a.key < b.key ? -1 : 1))
      return [{ found, byIndex: findSimilar(candidate, found), byAll: findSimilar(candidate, inOrder) }]
    }
    const after = type === 'put' ? recordOf(what) : undefined
    index.replace(records.get(what.key), after)
    if (after === undefined) records.delete(what.key)
    else records.set(what.key, after)
    return []
  })
}

test('the index finds what comparing every record finds, whenever it is made', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      for (const { found, byIndex, byAll } of told(steps)) {
        expect(byIndex).toEqual(byAll)
        expect(found.filter(({ remote: pipe }) => pipe === undefined)).toEqual([])
      }
    }),
    { numRuns: 300 },
  )
})
