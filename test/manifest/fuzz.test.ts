import {
  array,
  assert,
  constantFrom,
  json,
  nat,
  property,
  record,
  stringMatching,
  uint8Array,
  infiniteStream,
} from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pictureOf } from '../../src/manifest/diagnostics/diagnostic.ts'
import { maskLines } from '../../src/manifest/diagnostics/mask-lines.ts'
import { splitDocuments } from '../../src/manifest/yaml/parse-yaml.ts'
import { PIECES } from '../fuzz/inputs.ts'
import {
  documents,
  endpoint,
  findingsOf,
  lock,
  next,
  parse,
  pipe,
  readingOf,
  service,
  UUID,
} from './support.ts'

const GOOD = documents(
  service('analytics'),
  pipe('a', { policy: 'dependsOn: [Pipe/b], interval: 5m' }),
  pipe('b'),
  endpoint('e'),
  lock('l', { 'Pipe/a': UUID }),
)

/** A good text with some pieces of it cut out, and others put in. */
const mutated = array(record({ at: nat(GOOD.length), cut: nat(20), put: constantFrom('', ...PIECES) }), {
  minLength: 1,
  maxLength: 8,
}).map((edits) =>
  edits.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), GOOD),
)

const noise = array(constantFrom(...PIECES, 'a', 'b: 1\n', 'spec:\n'), { maxLength: 60 }).map((pieces) =>
  pieces.join(''),
)

/** Everything that has to hold for whatever stands in a file. */
function expectSound(text: string | Buffer): void {
  const file = parse(text)
  const lines = String(text)
    .replace(/^\ufeff/, '')
    .split('\n')
  for (const finding of findingsOf(file)) {
    expect(finding.line).toBeGreaterThanOrEqual(1)
    expect(finding.line).toBeLessThanOrEqual(lines.length)
    expect(finding.column).toBeGreaterThanOrEqual(1)
    expect(finding.column).toBeLessThanOrEqual((lines[finding.line - 1] ?? '').length + 1)
    expect(finding.endColumn).toBeGreaterThan(finding.column)
    expect(finding.lineText.length).toBeLessThanOrEqual(200)
    expect(finding.message).not.toBe('')
    expect(finding.hint).not.toBe('')
    expect(pictureOf(finding).split('\n').length).toBeLessThanOrEqual(3)
  }
  for (const document of file.documents) {
    const errors = document.findings.some((finding) => finding.severity === 'error')
    expect(document.manifest === undefined).toBe(errors)
  }
}

// The assertions are in expectSound.
/* oxlint-disable vitest/expect-expect */
describe('whatever stands in a file', () => {
  test('random bytes never throw and always have positions', () => {
    assert(
      property(uint8Array({ maxLength: 300 }), (bytes) => expectSound(Buffer.from(bytes))),
      { numRuns: 100 },
    )
  })

  test('neither do pieces of YAML in any order', () => {
    assert(property(noise, expectSound), { numRuns: 150 })
  })

  test('nor manifests with mistakes, and the catalog takes them all', () => {
    assert(
      property(mutated, (text) => {
        expectSound(text)
        const before = next(undefined, readingOf({ 'a.yaml': GOOD }))
        const after = next(before, readingOf({ 'a.yaml': text }))
        // No mistake in a file makes a key gone at once, and none makes a valid one lose its last manifest.
        expect(after.catalog.deleted.size).toBe(0)
        for (const key of before.catalog.entries.keys())
          expect(after.catalog.entries.get(key)?.manifest).toBeDefined()
      }),
      { numRuns: 20 },
    )
  })

  test('JSON of any shape is taken, at the right place', () => {
    assert(
      property(json({ maxDepth: 8 }), nat(4), (text, indent) =>
        expectSound(JSON.stringify(JSON.parse(text), undefined, indent)),
      ),
      { numRuns: 80 },
    )
  })

  test('a secret planted under a sensitive name is in no finding, whatever mistakes surround it', () => {
    const secret = 'Pl4nted-s3cret'
    const base = documents(
      pipe('a').replace(
        'topics: orders',
        `topics: orders, credentials: {username: bob, password: ${secret}}`,
      ),
      `kind: Pipe\nspec:\n  source:\n    kafka:\n      credentials:\n        password: |\n          ${secret}\n`,
    )
    const edit = record({ at: nat(base.length), put: constantFrom(...PIECES) })
    assert(
      property(array(edit, { maxLength: 4 }), (edits) => {
        const text = edits.reduce((all, { at, put }) => {
          // An edit inside the name or the secret would make it another one.
          const near = all.slice(Math.max(0, at - 24), at + 24)
          return near.includes('ass') || near.includes(secret.slice(0, 4))
            ? all
            : all.slice(0, at) + put + all.slice(at)
        }, base)
        expect(JSON.stringify(findingsOf(parse(text)))).not.toContain(secret)
      }),
      { numRuns: 100 },
    )
  })
})

describe('meaning', () => {
  const value = {
    apiVersion: 'pipewright/v1',
    kind: 'Pipe',
    metadata: { name: 'a', labels: { x: '1', y: '2', z: '3' } },
    policy: { interval: '5m', onMissing: 'report', dependsOn: ['Pipe/b', 'Pipe/c'] },
    spec: {
      service: 's',
      source: {
        kafka: {
          brokers: 'b:1',
          topics: 't',
          credentials: { username: 'u', password: { secretRef: { name: 'n', key: 'k' } } },
        },
      },
      destination: { database: 'd', table: 't', columns: [{ name: 'id', type: 'UInt64' }] },
      fieldMappings: [{ sourceField: 'id', destinationField: 'id' }],
    },
  }

  test('the order in which fields are written is none', () => {
    const expected = meaning(JSON.stringify(value))
    expect(expected).toBeDefined()
    assert(
      property(infiniteStream(nat()), (numbers) => {
        expect(meaning(JSON.stringify(shuffled(value, numbers)))).toBe(expected)
      }),
      { numRuns: 25 },
    )
  })
})

function meaning(text: string): string | undefined {
  return parse(text).documents[0]?.digest
}

/** The same with the fields of all objects in another order. */
function shuffled(value: unknown, numbers: Iterator<number>): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, numbers))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, inner]) => ({
    name,
    inner: shuffled(inner, numbers),
    at: Number(numbers.next().value),
  }))
  return Object.fromEntries(fields.toSorted((a, b) => a.at - b.at).map(({ name, inner }) => [name, inner]))
}

describe('positions', () => {
  const word = stringMatching(/^[a-z]{1,6}$/)
  const layouts = constantFrom('block', 'flow', 'json')

  test('an unknown field is found where it was put', () => {
    assert(
      property(layouts, nat(5), array(word, { maxLength: 3 }), (layout, before, labels) => {
        const name = 'zzUnknown'
        const head = '# c\n'.repeat(before)
        const pad = Object.fromEntries(labels.map((label) => [label, 'x']))
        const value = {
          apiVersion: 'pipewright/v1',
          kind: 'Alert',
          metadata: { name: 'a', labels: pad },
          spec: { id: 'x', expect: { name: 'é', [name]: 1 } },
        }
        const body =
          layout === 'json'
            ? JSON.stringify(value, undefined, '\t')
            : layout === 'flow'
              ? JSON.stringify(value)
              : `apiVersion: pipewright/v1\nkind: Alert\nmetadata:\n  name: a\n  labels: ${JSON.stringify(pad)}\nspec:\n  id: x\n  expect:\n    name: é\n    ${name}: 1\n`
        const text = `${head}${body}\n`
        const [finding, ...others] = findingsOf(parse(text))
        const line = text.split('\n')[(finding?.line ?? 0) - 1] ?? ''
        expect(
          line.slice((finding?.column ?? 0) - 1, (finding?.endColumn ?? 0) - 1).replaceAll('"', ''),
        ).toBe(name)
        expect([finding?.code, others]).toEqual(['unknown-field', []])
      }),
      { numRuns: 100 },
    )
  })

  test('documents are cut without losing or inventing a character', () => {
    assert(
      property(noise, (text) => {
        let end = 0
        for (const chunk of splitDocuments(text)) {
          expect(chunk.start).toBeGreaterThanOrEqual(end)
          expect(text.slice(end, chunk.start)).toMatch(
            /^(?:\s*(?:#[^\n]*|---\s*(?:#[^\n]*)?|\.\.\.[^\n]*)?[\n\r\s]?)*$/,
          )
          end = chunk.end
        }
      }),
      { numRuns: 100 },
    )
  })

  test('masking keeps the number of lines', () => {
    assert(
      property(noise, (text) => {
        const lines = text.split('\n')
        expect(maskLines(lines)).toHaveLength(lines.length)
      }),
    )
  })
})
