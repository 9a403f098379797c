import { describe, expect, test } from 'vitest'
import { dependencyCircles } from '../../src/manifest/rules/reference-rules.ts'
import { UUID, documents, endpoint, lock, next, pipe, readingOf, service, statesOf } from './support.ts'

const OTHER = '11111111-1111-4111-8111-111111111111'

const s = service('analytics')

/** Named "orders" on the platform. */
function orders(name: string, of: string): string {
  return pipe(name, { service: of }).replace('spec:', 'spec:\n  name: orders')
}

const depending = (name: string, on: string) => pipe(name, { policy: `dependsOn: [${on}]` })

/** Documents of one file, each finding as `code line:column`, and keys that are not valid. */
type Row = readonly [why: string, texts: readonly string[], findings?: readonly string[], invalid?: string]

const ROWS: readonly Row[] = [
  [
    'two pipes of one name in two services are no copies',
    [s, service('other', OTHER), orders('a', 'analytics'), orders('b', 'other')],
  ],
  ['all is well', [s, pipe('a'), depending('b', 'Pipe/a')]],
  [
    'a Service that is there and invalid is no error of the pipe',
    [s.replace('serviceId', 'servicId'), pipe('a')],
    ['unknown-field 6:3'],
    'Service/analytics',
  ],
  [
    'a missing dependency',
    [s, depending('a', 'Service/analytics, Alert/x')],
    ['unknown-dependency 12:41'],
    'Pipe/a',
  ],
  [
    'a circle makes its members invalid, and not who leads into it',
    [s, ...['ab', 'bc', 'ca', 'da'].map(([name = '', on = '']) => depending(name, `Pipe/${on}`))],
    ['circular-dependency 12:22', 'circular-dependency 22:22', 'circular-dependency 32:22'],
    'Pipe/a Pipe/b Pipe/c',
  ],
  ...[
    ['b', 'a'],
    ['b', 'c', 'a'],
  ].map((from): Row => [
    `a circle of ${from.length} former names, in two services, beside a pipe that leads into it`,
    [
      ...from.map((name, n) =>
        pipe('abc'.charAt(n), {
          policy: `renamedFrom: Pipe/${name}`,
          service: n === 0 ? 'other' : 'analytics',
        }),
      ),
      s,
      service('other', OTHER),
      pipe('d', { policy: 'renamedFrom: Pipe/a' }),
      pipe('e', { policy: 'renamedFrom: Pipe/gone' }),
    ],
    from.map((_name, n) => `circular-dependency ${4 + 10 * n}:23`),
    from.map((_name, n) => `Pipe/${'abc'.charAt(n)}`).join(' '),
  ]),
  ['endpoints of two services', [s, service('other', OTHER), endpoint('x'), endpoint('y', 'other')]],
  ['two Locks that agree', [s, pipe('a'), lock('l', { 'Pipe/a': UUID }), lock('m', { 'Pipe/a': UUID })]],
  ['what a pipe was renamed from need not exist', [s, pipe('a', { policy: 'renamedFrom: Pipe/old' })]],
]

describe('rules across documents', () => {
  test.for(ROWS)('%s', ([_why, texts, findings = [], invalid = '']) => {
    const state = next(undefined, readingOf({ 'a.lock.yaml': documents(...texts) }))
    expect(state.catalog.findings.map(({ code, line, column }) => `${code} ${line}:${column}`)).toEqual(
      findings,
    )
    const states = Object.entries(statesOf(state))
    expect(states.flatMap(([key, entry]) => (entry === 'invalid' ? [key] : [])).join(' ')).toBe(invalid)
  })

  test('a duplicate names the other place, once', () => {
    const { catalog } = next(undefined, readingOf({ 'a.yaml': pipe('a'), 'b.yaml': pipe('a') }))
    const [first] = catalog.findings.filter((finding) => finding.code === 'duplicate-key')
    expect(first).toMatchObject({
      file: 'a.yaml',
      key: 'Pipe/a',
      related: [{ file: 'b.yaml', line: 1, column: 1 }],
    })
    expect(first?.message).toContain('b.yaml:1')
  })

  test('a circle names its members', () => {
    const text = documents(s, depending('a', 'Pipe/b'), depending('b', 'Pipe/a'))
    const { findings } = next(undefined, readingOf({ 'a.yaml': text })).catalog
    const said = 'Resources depend on each other in a circle: Pipe/a, Pipe/b.'
    expect(findings.map(({ message }) => message)).toEqual([said, said])
  })

  test('a long circle overflows neither the stack nor the message', () => {
    const count = 10_000
    const key = (i: number) => `Alert/a${i % count}` as const
    const edges = new Map(Array.from({ length: count }, (_, i) => [key(i), [key(i + 1)]] as const))
    expect(dependencyCircles(edges).map(({ length }) => length)).toEqual([count])
    const texts = Array.from(
      { length: 12 },
      (_, i) =>
        `{apiVersion: pipewright/v1, kind: Alert, metadata: {name: a${i}}, policy: {dependsOn: [Alert/a${(i + 1) % 12}]}, spec: {id: x}}\n`,
    )
    const { catalog } = next(undefined, readingOf({ 'a.yaml': documents(...texts) }))
    expect(catalog.findings.map(({ message }) => message.replace(/.*circle: /, ''))).toContain(
      'Alert/a0, Alert/a1, Alert/a10, Alert/a11, Alert/a2 and 7 more.',
    )
  })

  test.each([
    ['endpoints of one service', (n: number) => endpoint(`e${n}`)],
    ['manifests of one key', () => endpoint('e')],
    ['pipes of one name', (n: number) => pipe(`p${n}`).replace('spec:', 'spec:\n  name: same')],
    ['Locks of one id', (n: number) => lock(`l${n}`, { [`Pipe/p${n}`]: UUID })],
    ['Locks of one key', (n: number) => lock(`l${n}`, { 'Pipe/p': UUID.slice(0, -3) + String(100 + n) })],
  ])('%s, many: each finding names a few of the others', (_what, textOf) => {
    const texts = Array.from({ length: 80 }, (_, n) => textOf(n))
    const { catalog } = next(
      undefined,
      readingOf({ 's.yaml': service('analytics'), 'x.lock.yaml': documents(...texts) }),
    )
    expect(catalog.findings.length).toBeGreaterThanOrEqual(80)
    for (const { message, related } of catalog.findings) {
      expect(message.length).toBeLessThan(400)
      expect(related.length).toBeLessThanOrEqual(5)
    }
  })

  test('a message names five of the others and counts the rest', () => {
    const texts = Array.from({ length: 8 }, (_, n) => endpoint(`e${n}`))
    const { catalog } = next(undefined, readingOf({ 'a.yaml': documents(service('analytics'), ...texts) }))
    expect(catalog.findings[0]?.message).toContain(
      'This service can have only one query endpoint. Another is in QueryEndpoint/e1, QueryEndpoint/e2, QueryEndpoint/e3, QueryEndpoint/e4, QueryEndpoint/e5 and 2 more.',
    )
  })

  test('contested locks are not believed', () => {
    const { catalog } = next(
      undefined,
      readingOf({
        'l.lock.yaml': documents(
          lock('l', { 'Pipe/a': UUID, 'Pipe/c': '22222222-2222-4222-8222-222222222222' }),
          lock('m', { 'Pipe/a': OTHER }),
        ),
      }),
    )
    expect([...catalog.locks.keys()]).toEqual(['Pipe/c'])
  })
})

test('a dependency whose kind is misspelt is said with the right one', () => {
  const text = documents(service('analytics'), pipe('orders', { policy: 'dependsOn: [Pipes/a]' }), pipe('a'))
  const { findings } = next(undefined, readingOf({ 'a.yaml': text })).catalog
  expect(findings).toMatchObject([{ code: 'unknown-dependency', hint: 'Did you mean "Pipe/a"?' }])
})
