import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS, findTooMany } from '../../src/manifest/yaml/limits.ts'
import { createFindingRoom } from '../../src/manifest/validate/parse-document.ts'
import { documents, findingsOf, parse, pipe, service } from './support.ts'
import { cpuMsOf } from '../support/cpu.ts'
import { parseFile } from '../support/at-once.ts'

interface Row {
  readonly text: string
  /** Each finding as `code line:column-endColumn`. */
  readonly findings: readonly string[]
}

const HEAD = 'apiVersion: pipewright/v1\nkind: Pipe\nmetadata: {name: a}\n'
const REST = '  source: {kafka: {}}\n  destination: {columns: []}\n  fieldMappings: []\n'

const rows: Readonly<Record<string, Row>> = {
  'a good manifest has none': { text: pipe('a'), findings: [] },
  'an alias of the name of a field': {
    text: pipe('a').replace('{name: a}', '{name: a, labels: {&team team: *team}}'),
    findings: [],
  },
  ...Object.fromEntries(
    ['999ms', '0s', '24h1ms', '40d', `${'9'.repeat(400)}s`].map(
      (interval) =>
        [
          `an interval of ${interval.slice(0, 8)}`,
          {
            text: pipe('a', { policy: `interval: ${interval}` }),
            findings: [`wrong-format 4:20-${Math.min(20 + interval.length, 200)}`],
          },
        ] as const,
    ),
  ),
  ...Object.fromEntries(
    ['1s', '23h59m59s', '24h', '1d'].map(
      (interval) =>
        [
          `an interval of ${interval}`,
          { text: pipe('a', { policy: `interval: ${interval}` }), findings: [] },
        ] as const,
    ),
  ),
  'empty documents between others are skipped': { text: documents('', pipe('a'), '# c\n', ''), findings: [] },
  'a tag of YAML 1.1': { text: `${HEAD}spec: !!binary aGVsbG8=\n`, findings: ['yaml-tag 4:7-15'] },
  'YAML 1.3': { text: `%YAML 1.3\n---\n${pipe('a')}`, findings: ['yaml-version 1:7-10'] },
  'an open quote ends with its document': {
    text: `a: "x\n---\n${pipe('b')}`,
    findings: ['yaml-syntax 1:4-6'],
  },
  'a prototype is a field like any other': {
    text: `${HEAD}__proto__: {}\nspec:\n  service: s\n${REST}`,
    findings: ['unknown-field 4:1-10'],
  },
  'nesting that would overflow the stack': {
    text: `a: ${'['.repeat(30_000)}`,
    findings: ['too-deep 1:67-68'],
  },
  'brackets in a text are not nesting': {
    text: `${HEAD}spec: ${JSON.stringify('['.repeat(500))}\n`,
    findings: ['wrong-type 4:7-200'],
  },
}

function messagesForUsername(username: string): readonly string[] {
  const text = `${HEAD}spec:\n  service: s\n  source: {kafka: {credentials: {username: ${username}}}}\n`
  return findingsOf(parse(text)).map(({ message }) => message)
}

describe('one file', () => {
  test.each(Object.entries(rows))('%s', (_name, { text, findings }) => {
    const found = findingsOf(parse(text)).map(
      (finding) => `${finding.code} ${finding.line}:${finding.column}-${Math.min(finding.endColumn, 200)}`,
    )
    expect(found).toEqual(findings)
  })

  test('a JSON file goes the same way, tabs and all', () => {
    const file = parse(
      '{\n\t"apiVersion": "pipewright/v1",\n\t"kind": "Alert",\n\t"metadata": {"name": "a"},\n\t"spec": {"id": "x", "nam": 1}\n}\n',
      'a.json',
    )
    expect(findingsOf(file)).toMatchObject([
      {
        code: 'unknown-field',
        line: 5,
        column: 22,
        key: 'Alert/a',
        lineText: '\t"spec": {"id": "x", "nam": 1}',
      },
    ])
  })

  test('a broken document harms no other of its file, and the file is not whole', () => {
    const file = parse(
      documents(
        pipe('a'),
        'kind: Pipe\nmetadata: {name: b}\nspec: "open\n',
        pipe('c'),
        'x: [1\n',
        service('d'),
      ),
    )
    expect(file.documents.map(({ key, manifest }) => [key, manifest !== undefined])).toEqual([
      ['Pipe/a', true],
      ['Pipe/b', false],
      ['Pipe/c', true],
      [undefined, false],
      ['Service/d', true],
    ])
    expect(file.whole).toBe(false)
  })

  test('bytes that are no text show the place and nothing else', () => {
    const file = parse(Buffer.from([0x61, 0x3a, 0x0a, 0x62, 0xff, 0xfe]))
    expect(findingsOf(file)).toMatchObject([{ code: 'not-utf8', line: 2, column: 2, lineText: '' }])
    expect(file.whole).toBe(false)
  })

  test.each([
    ['five thousand fields', Array.from({ length: 5_000 }, (_, i) => `k${i}: 1\n`).join(''), 51],
    ['a field five thousand times', 'k: 1\n'.repeat(5_000), 50],
    [
      'aliases that each stand for little',
      `spec:\n${Array.from({ length: 4_000 }, (_, i) => `- &a${i} x\n- *a${i}\n`).join('')}`,
      1,
    ],
  ])('%s take seconds, not minutes, and not all are shown', (_name, body, shown) => {
    const cost = cpuMsOf(() => expect(findingsOf(parse(`${HEAD}${body}`))).toHaveLength(shown))
    expect(cost).toBeLessThan(5_000)
  })

  test('directives before marks without end are passed over once', () => {
    const cost = cpuMsOf(() => parse(`%a\n${'---\n'.repeat(80_000)}`))
    expect(cost).toBeLessThan(20_000)
  })

  const MIB = 1_048_576
  test.each([
    ['empty lists in a row', '[]', 'too-complex'],
    ['empty mappings in a row', '{} ', 'too-complex'],
    ['texts in a row', '"" ', 'too-complex'],
    ['escapes', '"\\q', 'too-complex'],
    ['items of nothing', '-\n', 'too-complex'],
    ['fields of nothing', '?\n', 'too-complex'],
    ['aliases', '*a ', 'too-complex'],
    ['commas', ',', 'too-complex'],
  ])('%s, a mebibyte of them, cost a bounded time', (_name, unit, code) => {
    const before = process.cpuUsage()
    const file = parse(unit.repeat(MIB / unit.length))
    expect(findingsOf(file).map((finding) => finding.code)).toContain(code)
    expect(file.whole).toBe(false)
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000)
  })

  test('what fits nowhere is told a hundred times at most, and the rest is not looked at', () => {
    const file = parse('[]'.repeat(DEFAULT_LIMITS.documentMarks - 10))
    expect(findingsOf(file).map((finding) => finding.code)).toContain('yaml-syntax')
  })

  test('a file as large as it may be, of manifests, is not too complex', () => {
    const text = `${pipe('a')}---\n`.repeat(Math.floor(MIB / (pipe('a').length + 4)))
    expect(findTooMany(text, DEFAULT_LIMITS.marks)).toBeUndefined()
  })

  test('an error beyond what is shown still makes a manifest invalid', () => {
    const file = parseFile(
      { file: 'a.yaml', hash: '', bytes: Buffer.from(pipe('a').replace('kafka: {', 'kafka: {x: 1, y: 1, ')) },
      { profile: DEFAULT, limits: { ...DEFAULT_LIMITS, findings: 0 }, room: createFindingRoom() },
    )
    expect(findingsOf(file).map(({ code }) => code)).toEqual(['too-many-findings'])
    expect(file.documents[0]?.manifest).toBeUndefined()
  })

  test('more documents than are read', () => {
    const file = parse('a: 1\n---\n'.repeat(1_001))
    expect(file.findings).toMatchObject([{ code: 'too-many-documents', line: 2_000 }])
    expect(file.whole).toBe(false)
  })

  test('hints name what was meant', () => {
    const text = `${HEAD}policy: {onMissing: recrate}\nspec:\n  servce: s\n  interval: 5m\n${REST}`
    const hints = findingsOf(parse(text)).map(({ code, hint }) => `${code}: ${hint}`)
    expect(hints).toEqual([
      'wrong-value: Did you mean "recreate"?',
      'unknown-field: Did you mean "service"?',
      'unknown-field: It belongs under policy.',
    ])
  })

  test('unions say what is wanted', () => {
    expect(messagesForUsername('5')).toEqual([
      'spec.source.kafka.credentials.username must be a text or {secretRef: {name, key}}.',
    ])
    expect(messagesForUsername('{secretRef: {name: x}}')).toEqual([
      'spec.source.kafka.credentials.username.secretRef needs the field "key".',
    ])
  })

  test('the order of fields and the layout do not change the meaning', () => {
    const flow = `{kind: Alert, spec: {id: x}, metadata: {labels: {b: "1", a: "2"}, name: a}, apiVersion: pipewright/v1}`
    const block =
      'apiVersion: pipewright/v1\nkind: Alert\nmetadata:\n  name: a\n  labels: {a: "2", b: "1"}\nspec:\n  id: x\n'
    expect(parse(flow).documents[0]?.digest).toBe(parse(block).documents[0]?.digest)
    expect(parse(flow).documents[0]?.digest).not.toBe(
      parse(block.replace('id: x', 'id: y')).documents[0]?.digest,
    )
  })
})
