import { describe, expect, test } from 'vitest'
import { type LedgerRecord, blankRecord } from '../../src/plan/record.ts'
import { type Candidate, findSimilar } from '../../src/plan/rename-detection.ts'
import { appliedEndpoint, created, EDITED, FIELDS, intent, MINUTE, OTHER_ID, recordedPipe } from './inputs.ts'

const SERVICE = { name: 'analytics', organizationId: 'o', serviceId: 's' }
const OTHER_SERVICE = { ...SERVICE, serviceId: 'other' }
const RENAMED_SERVICE = { ...SERVICE, name: 'other' }

const candidate: Candidate = {
  key: 'Pipe/new',
  serviceId: SERVICE.serviceId,
  platformName: 'orders',
  fingerprint: FIELDS,
}

/** A record without a manifest. */
function gone(changes: Partial<LedgerRecord> = {}): LedgerRecord {
  return created({ key: 'Pipe/old', service: SERVICE, platformName: 'orders', ...changes })
}

const renamed = { ...FIELDS, digest: 'body-renamed', fields: { ...FIELDS.fields, name: 'h-other' } }
const longer = { ...EDITED, fields: { ...FIELDS.fields, 'scaling.replicas': 'h-2' } }

interface Row {
  readonly records: readonly LedgerRecord[]
  readonly is: readonly [from: string, certainty: 'same' | 'suspected'] | undefined
}

const ROWS: Readonly<Record<string, Row>> = {
  'nothing is recorded': { records: [], is: undefined },
  'the same service and body is the same': { records: [gone()], is: ['Pipe/old', 'same'] },
  'the same body under another name on the platform, by spec.name alone, is the same still': {
    records: [gone({ platformName: 'other' })],
    is: ['Pipe/old', 'same'],
  },
  'the same name and another body is suspected': {
    records: [gone({ applied: EDITED })],
    is: ['Pipe/old', 'suspected'],
  },
  'the same body but for the name is suspected': {
    records: [gone({ applied: renamed, platformName: 'other' })],
    is: ['Pipe/old', 'suspected'],
  },
  'another name and another body is a stranger': {
    records: [gone({ applied: EDITED, platformName: 'other' })],
    is: undefined,
  },
  'a field more is another body': {
    records: [gone({ applied: longer, platformName: 'other' })],
    is: undefined,
  },
  'another service is a stranger, whatever the body': {
    records: [gone({ service: OTHER_SERVICE })],
    is: undefined,
  },
  'a service whose manifest was renamed is the same': {
    records: [gone({ service: RENAMED_SERVICE })],
    is: ['Pipe/old', 'same'],
  },
  'no service is a stranger': { records: [gone({ service: undefined })], is: undefined },
  'two that are the same cannot be told apart': {
    records: [gone(), gone({ key: 'Pipe/older' })],
    is: ['Pipe/old', 'suspected'],
  },
  'one that is the same goes before one that is suspected, in any order': {
    records: [gone({ key: 'Pipe/a', applied: EDITED }), gone()],
    is: ['Pipe/old', 'same'],
  },
  'the same name goes before the same body under another name': {
    records: [
      gone({ key: 'Pipe/a', applied: renamed, platformName: 'other' }),
      gone({ key: 'Pipe/b', applied: EDITED }),
    ],
    is: ['Pipe/b', 'suspected'],
  },
  'an unknown create counts like a pipe': {
    records: [gone({ remote: undefined, intent: intent('unknown') })],
    is: ['Pipe/old', 'same'],
  },
  'a create that a crash left open counts like a pipe': {
    records: [gone({ remote: undefined, intent: intent('open') })],
    is: ['Pipe/old', 'same'],
  },
  'a create that failed left nothing': {
    records: [gone({ remote: undefined, intent: intent('failed') })],
    is: undefined,
  },
  'an adopted pipe, whose body nobody wrote down, is suspected by its name': {
    records: [gone({ applied: undefined })],
    is: ['Pipe/old', 'suspected'],
  },
  'a blank record is nothing': { records: [blankRecord('Pipe/old')], is: undefined },
  'an endpoint is no pipe': { records: [appliedEndpoint(MINUTE)], is: undefined },
}

describe('how a candidate relates to what is recorded', () => {
  test.each(Object.entries(ROWS))('%s', (_why, { records, is }) => {
    const similarity = findSimilar(candidate, records)
    expect(similarity && [similarity.from.key, similarity.certainty]).toEqual(is)
  })

  test('does not depend on the id of the pipe', () => {
    const other = recordedPipe(OTHER_ID, { origin: 'adopted' })
    expect(findSimilar(candidate, [gone({ remote: other })])?.certainty).toBe('same')
  })
})
