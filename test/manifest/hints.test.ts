import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { parseFile } from '../../src/manifest/validate/parse-file.ts'
import { pipe } from './support.ts'

interface Row {
  readonly why: string
  readonly from: string
  readonly to: string
  /** A part of the hint at the place of the mistake. */
  readonly hint: string
}

const USER = 'spec:\n  source: {kafka: {credentials: {username: '

const ROWS: readonly Row[] = [
  {
    why: 'a number has no unit, and quotes alone would not give it one',
    from: 'policy: {}',
    to: 'policy: {interval: 10}',
    hint: 'Write a duration with its unit: 10s, 10m or 10h.',
  },
  {
    why: 'an interval in quotes still needs a unit',
    from: 'policy: {}',
    to: 'policy: {interval: "10"}',
    hint: 'Write a number and a unit: s, m, h or d.',
  },
  {
    why: 'a label of the same name is no duration',
    from: 'metadata: {name: orders}',
    to: 'metadata: {name: orders, labels: {interval: 10}}',
    hint: 'Put it in quotes.',
  },
  {
    why: 'a suspension has a reason and an end',
    from: 'policy: {}',
    to: 'policy: {suspend: true}',
    hint: 'Write {reason: planned migration, until:',
  },
  {
    why: 'brokers are one text',
    from: 'brokers: "b:9092"',
    to: 'brokers: ["b:9092", "c:9092"]',
    hint: 'Write one text without [ ] or "- "',
  },
  {
    why: 'name and key of a secret are two fields',
    from: 'spec:\n  ',
    to: `${USER}{secretRef: kafka/username}}}}\n  `,
    hint: 'Write secretRef: {name: kafka, key: username}',
  },
  {
    why: 'a reference as in a pod of Kubernetes',
    from: 'spec:\n  ',
    to: `${USER}{valueFrom: {secretKeyRef: {name: kafka, key: username}}}}}}\n  `,
    hint: 'Write {secretRef: {name: …, key: …}} instead',
  },
  {
    why: 'a name with capitals',
    from: 'metadata: {name: orders}',
    to: 'metadata: {name: Orders}',
    hint: 'Write it in lower case',
  },
  {
    why: 'an object of Kubernetes is told what it is and where to put it',
    from: 'apiVersion: pipewright/v1\nkind: Pipe',
    to: 'apiVersion: apps/v1\nkind: Deployment',
    hint: 'Move it out of the manifests directory',
  },
  {
    why: 'a misspelt kind of ours is not one of Kubernetes',
    from: 'kind: Pipe',
    to: 'kind: Pip',
    hint: 'Did you mean "Pipe"?',
  },
  {
    why: 'an apiVersion that does not exist',
    from: 'pipewright/v1',
    to: 'pipewright/v2',
    hint: 'Write "apiVersion: pipewright/v1".',
  },
  {
    why: 'text where a list belongs',
    from: 'columns: [{name: id, type: UInt64}]',
    to: 'columns: id',
    hint: 'Write a list: [first, second].',
  },
]

describe('what a hint says to write', () => {
  test.each(ROWS)('$why', ({ from, to, hint }) => {
    const right = pipe('orders')
    expect(right).toContain(from)
    const text = right.replace(from, to).replace(/(\n {2}source: .*)([\s\S]*)\n {2}source: .*/, '$1$2')
    const said = hintsOf(text)
    expect(said.filter((each) => each.startsWith(hint))).toHaveLength(1)
    expect(said.join('\n')).not.toContain('Correct the value')
  })
})

function hintsOf(text: string): readonly string[] {
  const file = parseFile({ file: 'a.yaml', hash: '', bytes: Buffer.from(text) }, DEFAULT_LIMITS)
  return [...file.findings, ...file.documents.flatMap((document) => document.findings)].map(
    (finding) => finding.hint,
  )
}
