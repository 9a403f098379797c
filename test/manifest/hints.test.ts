import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { createFindingRoom } from '../../src/manifest/validate/parse-document.ts'
import { pipe } from './support.ts'
import { parseFile } from '../support/at-once.ts'

interface Row {
  readonly from: string
  readonly to: string
  /** A part of the hint at the place of the mistake. */
  readonly hint: string
}

const ROWS: Readonly<Record<string, Row>> = {
  'a number has no unit, and quotes alone would not give it one': {
    from: 'policy: {}',
    to: 'policy: {interval: 10}',
    hint: 'Write a number and a unit: s, m, h or d.',
  },
  'an interval in quotes still needs a unit': {
    from: 'policy: {}',
    to: 'policy: {interval: "10"}',
    hint: 'Write a number and a unit: s, m, h or d.',
  },
  'a label of the same name is no duration': {
    from: 'metadata: {name: orders}',
    to: 'metadata: {name: orders, labels: {interval: 10}}',
    hint: 'Write one text, in quotes.',
  },
  'a suspension has a reason and an end': {
    from: 'policy: {}',
    to: 'policy: {suspend: true}',
    hint: 'Write {reason: planned migration, until:',
  },
  'brokers are one text': {
    from: 'brokers: "b:9092"',
    to: 'brokers: ["b:9092", "c:9092"]',
    hint: 'Write one text, in quotes.',
  },
  'a name with capitals': {
    from: 'metadata: {name: orders}',
    to: 'metadata: {name: Orders}',
    hint: 'Write it in lower case',
  },
  'an object of Kubernetes is not of Pipewright, and can be named in the ignore file': {
    from: 'apiVersion: pipewright/v1\nkind: Pipe',
    to: 'apiVersion: apps/v1\nkind: Deployment',
    hint: 'Write "kind" with one of Service, Pipe, QueryEndpoint, Alert, Lock. Name a file of another program',
  },
  'a misspelt kind of ours is not one of Kubernetes': {
    from: 'kind: Pipe',
    to: 'kind: Pip',
    hint: 'Did you mean "Pipe"?',
  },
  'an apiVersion that does not exist': {
    from: 'pipewright/v1',
    to: 'pipewright/v2',
    hint: 'Write "apiVersion: pipewright/v1".',
  },
  'one column without a mapping': {
    from: 'columns: [{name: id, type: UInt64}]',
    to: 'columns: [{name: id, type: UInt64}, {name: amount, type: Int64}]',
    hint: 'Add a mapping with "destinationField: amount": the mappings must include all destination columns.',
  },
  'several columns without a mapping': {
    from: 'columns: [{name: id, type: UInt64}]',
    to: 'columns: [{name: id, type: UInt64}, {name: a, type: Int64}, {name: b, type: Int64}]',
    hint: 'Add one mapping for each of these columns, with its name as destinationField: the mappings must',
  },
}

describe('what a hint says to write', () => {
  test.each(Object.entries(ROWS))('%s', (_why, { from, to, hint }) => {
    const right = pipe('orders')
    expect(right).toContain(from)
    const text = right.replace(from, to).replace(/(\n {2}source: .*)([\s\S]*)\n {2}source: .*/, '$1$2')
    const said = hintsOf(text)
    expect(said.filter((each) => each.startsWith(hint))).toHaveLength(1)
    expect(said.join('\n')).not.toContain('Correct the value')
  })
})

function hintsOf(text: string): readonly string[] {
  const file = parseFile(
    { file: 'a.yaml', hash: '', bytes: Buffer.from(text) },
    { profile: DEFAULT, limits: DEFAULT_LIMITS, room: createFindingRoom() },
  )
  return [...file.findings, ...file.documents.flatMap((document) => document.findings)].map(
    (finding) => finding.hint,
  )
}

/** `code line:column` of what is said. */
function saidOf(text: string): readonly string[] {
  const { documents } = parseFile(
    { file: 'a.yaml', hash: '', bytes: Buffer.from(text) },
    { profile: DEFAULT, limits: DEFAULT_LIMITS, room: createFindingRoom() },
  )
  return documents.flatMap(({ findings }) =>
    findings.map(({ severity, code, line, column }) => `${severity} ${code} ${line}:${column}`),
  )
}

const PIPE = `apiVersion: pipewright/v1
kind: Pipe
metadata: {name: orders}
spec:
  service: commerce
  source:
    kafka:
      brokers: b-1.example:9092
      topics: orders
  destination: {database: shop, table: orders, columns: [{name: id, type: UUID}]}
  fieldMappings: [{sourceField: id, destinationField: id}]
  scaling: {replicas: 2}
`

describe('where a mistake is', () => {
  test.each([
    ['a tab is said once', '      topics', '\ttopics', 'error yaml-syntax 9:1'],
    ['a field that is there twice', '  scaling', '  service: other\n  scaling', 'error duplicate-field 12:3'],
    ['a variable', 'b-1.example', '${BROKERS}', ['warning template 8:16']],
    [
      'a variable where none can be',
      'commerce',
      '${SERVICE}',
      ['warning template 5:12', 'error wrong-format 5:12'],
    ],
    ['a template', 'commerce', '{{ .Values.service }}', 'error template 5:12'],
    [
      'a value that a template of Jinja chooses',
      'topics: orders',
      'topics: {% if x %}orders{% endif %}',
      'error template 9:15',
    ],
    ['a condition of a template', '  scaling', '{{- if .Values.big }}\n  scaling', 'error template 12:1'],
    [
      'a condition of a template further in',
      '      topics',
      '      {{- if .Values.topics }}\n      topics',
      'error template 9:7',
    ],
    [
      'a template in quotes',
      'commerce',
      '"{{ .Values.service }}"',
      ['warning template 5:12', 'error wrong-format 5:12'],
    ],
    [
      'a template in a text that takes any',
      'topics: orders',
      'topics: "{{ topics }}"',
      'warning template 9:15',
    ],
  ])('%s', (_why, from, to, said) => {
    expect(PIPE).toContain(from)
    expect(saidOf(PIPE.replace(from, () => to))).toEqual([said].flat())
  })

  test.each([
    ['words of another script', 'topics: orders', 'topics: \u0437\u0430\u043a\u0430\u0437\u044b'],
    ['a dollar', 'topics: orders', 'topics: a$b'],
    ['a quote in the middle', 'topics: orders', 'topics: it\u2019s'],
  ])('nothing is said of %s', (_why, from, to) => {
    expect(saidOf(PIPE.replace(from, () => to))).toEqual([])
  })

  test('the first of two fields is named, and the second marked', () => {
    const text = PIPE.replace('  scaling', '  service: other\n  scaling')
    const { documents } = parseFile(
      { file: 'a.yaml', hash: '', bytes: Buffer.from(text) },
      { profile: DEFAULT, limits: DEFAULT_LIMITS, room: createFindingRoom() },
    )
    expect(documents[0]?.findings[0]).toMatchObject({
      message: 'The field "service" is there twice.',
      related: [{ file: 'a.yaml', line: 5, column: 3, message: 'the first of the two' }],
    })
  })

  test('shape and rules are said in one round, but no rule that only a wrong field breaks', () => {
    const two = PIPE.replace('{name: orders}', '{name: orders, lables: {}}').replace(
      'destinationField: id}',
      'destinationField: other}',
    )
    expect(saidOf(two)).toEqual(
      expect.arrayContaining(['error unknown-field 3:26', 'error mapping-unknown-column 11:55']),
    )
    const one = PIPE.replace('sourceField: id, destinationField: id', 'sourceField: id, destinationFeild: id')
    expect(saidOf(one).every((said) => !said.includes('mapping-'))).toBe(true)
  })
})
