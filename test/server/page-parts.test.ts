import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { CreateOncePolicy } from '../../src/kinds/manifest.ts'

/* What the parts of the page show, without a browser: `test/slow/page-*` has one. */

/** A virtual element as it is drawn. */
class Made {
  readonly tag: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly children: readonly (Made | string)[]

  constructor({ type, props: { children, ...attributes } }: Drawn) {
    this.tag = type
    this.attributes = attributes
    this.children = [children]
      .flat(9)
      .filter((child) => child !== undefined && child !== false && child !== '')
      .map((child) => (typeof child === 'object' ? new Made(child as Drawn) : `${child as string | number}`))
  }

  get cells(): readonly Made[] {
    return this.children.filter((child) => typeof child !== 'string')
  }

  get textContent(): string {
    return this.children.map((child) => (typeof child === 'string' ? child : child.textContent)).join('')
  }

  /** Itself and all below it that have this tag. */
  all(tag: string): readonly Made[] {
    return [...(this.tag === tag ? [this] : []), ...this.cells.flatMap((cell) => cell.all(tag))]
  }
}

interface Drawn {
  readonly type: string
  readonly props: Readonly<Record<string, unknown>>
}

function made(drawn: unknown): Made {
  return new Made({ type: 'root', props: { children: drawn } })
}

interface Page {
  h(strings: TemplateStringsArray, ...values: readonly unknown[]): unknown
  fact(name: string, value: unknown): unknown
  facts(...list: readonly unknown[]): unknown
  prose(text: string): unknown
  badge(status: string): unknown
  place(file: string | undefined, line: number | undefined): string
  plural(count: number, noun: string): string
  setServerTime(now: number): void
  readonly ago: (at: number) => unknown
  readonly until: (at: number) => unknown
  sinceWhen(at: number): unknown
  duration(milliseconds: number): string
  exactly(at: number): string
  stateWords(resource: object): unknown
  stateSection(resource: object): unknown
  fieldSection(resource: object): unknown
  manifestSection(resource: object): unknown
  commitWords(revision: object): unknown
  storyItems(entries: readonly object[], how: object): unknown
}

const NOW = Date.parse('2026-11-21T12:00:00Z')
const [MINUTE, HOUR] = [60_000, 3_600_000]
let page: Page

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW - HOUR })
  vi.stubGlobal('location', { pathname: '/', search: '' })
  const parts = ['markup', 'time', 'states', 'manifest', 'summary', 'story'].map(
    (name) => import(new URL(`../../src/server/page/${name}.js`, import.meta.url).href) as Promise<object>,
  )
  page = Object.assign({}, ...(await Promise.all(parts))) as Page // as they stand there
  page.setServerTime(NOW)
})

afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('an element has its attributes and texts, and shows what would be unseen', () => {
  const [link] = made(page.h`<a id=${'x\u200B'} no=${undefined} yes>${'a\u202Eb\n'}${['\u2067']}</a>`).all(
    'a',
  )
  expect(link?.attributes).toEqual({ id: String.raw`x\u{200b}`, no: undefined, yes: true })
  expect(link?.children).toEqual(['a\\u{202e}b\n', String.raw`\u{2067}`])
  const [prose] = made(page.prose('run `plan` or `apply')).cells
  expect(prose?.cells.map(({ tag }) => tag)).toEqual(['bdi', 'code', 'bdi', 'bdi'])
  const list = page.facts(page.fact('a', '1'), page.fact('b', ''), page.fact('c', undefined))
  expect(made(list).textContent).toBe('a1')
  expect(made(page.badge('NotReady')).cells).toMatchObject([
    { attributes: { class: 'badge warn' }, children: ['Not ready'] },
  ])
  expect([page.place('a', 3), page.place('a', undefined), page.place(undefined, 3)]).toEqual(['a:3', 'a', ''])
  expect([page.plural(1, 'error'), page.plural(0, 'error')]).toEqual(['1 error', '0 errors'])
})

test('a commit has its subject and its author, where they are known', () => {
  const commit = { author: 'Ada', subject: 'Add the orders pipe' }
  expect(made(page.commitWords({ commit })).textContent).toBe(' “Add the orders pipe” by Ada')
  expect(page.commitWords({})).toBeUndefined()
})

test.each([
  [{}, 'at the top level, write:', 'policy: { ', ' }'],
  [{ interval: '1m' }, 'under policy, write:', '', ''],
  [{ suspend: { reason: 'x', until: '2020-01-01T00:00:00Z' } }, 'under policy, replace suspend by:', '', ''],
])('a pause for a week is a line for Git, of a policy %j', (policy, where, before, after) => {
  const manifest = { document: { kind: 'Pipe', policy }, needs: [], neededBy: [], neededByCount: 0 }
  const pause = made(page.manifestSection({ manifest, file: 'a.yaml' })).all('details')[0]
  expect(pause?.textContent).toContain(`In a.yaml, ${where}`)
  const line = pause?.all('code').at(-1)?.textContent ?? ''
  expect(line).toBe(`${before}suspend: { reason: Paused for a week, until: 2026-11-28T12:00:00Z }${after}`)
  const { suspend } = (parse(before === '' ? line : line.slice(8)) ?? {}) as { readonly suspend: unknown } // of a mapping
  expect(CreateOncePolicy.safeParse({ suspend }).success).toBe(true)
  expect(made(page.manifestSection({ manifest, suspendedUntil: 'x' })).all('details')).toEqual([])
})

test.each([
  [0, '0 s'],
  [59_499, '59 s'],
  [59_500, '1 min'],
  [HOUR - 501, '60 min'],
  [HOUR - 500, '1 h'],
  [48 * HOUR - 501, '48 h'],
  [48 * HOUR - 500, '2 days'],
])('%i ms are %s', (ms, text) => {
  expect(page.duration(ms)).toBe(text)
})

test('a time is told from now on, by the clock of the server', () => {
  const told = (make: (at: number) => unknown, ...from: readonly number[]) =>
    from.map((ms) => made(make(NOW + ms)).textContent)
  expect(told(page.ago, -4_999, 4_999, -5_000, 5_000)).toEqual(['just now', 'just now', '5 s ago', 'in 5 s'])
  expect(told(page.until, MINUTE, 0, -MINUTE)).toEqual(['in 1 min', 'due', 'due'])
  const sinceWhen = (ms: number) => made(page.sinceWhen(NOW - ms)).textContent
  expect([sinceWhen(MINUTE), sinceWhen(0), sinceWhen(-MINUTE)]).toEqual([
    expect.stringMatching(/, for 1 min$/),
    expect.stringMatching(/, for 1 s$/),
    expect.stringMatching(/, for 1 s$/),
  ])
  expect(sinceWhen(20 * HOUR - 1)).toMatch(/^since [^,]*, for 20 h$/)
  expect(sinceWhen(20 * HOUR)).toBe(`since ${page.exactly(NOW - 20 * HOUR)}, for 20 h`)
  const attributes = { datetime: '2026-11-21T12:00:00.000Z', title: page.exactly(NOW), 'data-at': NOW }
  expect(made(page.ago(NOW)).cells).toMatchObject([{ attributes }])
})

const READ = { conditions: { Synced: { status: 'True' }, Valid: { status: 'True' } } }
const UNREAD = { conditions: { Synced: { status: 'Unknown' }, Valid: { status: 'True' } } }

function words(resource: object): string | undefined {
  const shown = page.stateWords(resource)
  return shown === undefined ? undefined : made(shown).textContent
}

test('a state that was not read at the last check has its age', () => {
  const old = { state: 'Running', checkedAt: NOW - HOUR }
  expect([words({ ...READ, ...old }), words({ ...UNREAD, ...old })]).toEqual(['Running', 'Running, 1 h ago'])
  expect([words({ ...UNREAD, state: 'Running' }), words(READ)]).toEqual(['Running', undefined])
})

test('states over time: each lasts until the next one, the last one until now or its last read', () => {
  const states = [
    { state: 'Running', from: NOW - 5 * HOUR, until: NOW - 4 * HOUR },
    { state: undefined, from: NOW - 3 * HOUR, until: NOW - HOUR },
  ]
  const rows = (resource: object) =>
    made(page.stateSection({ ...resource, states }))
      .all('tr')
      .map((row) => row.cells.map((cell) => cell.textContent).join(', '))
  const head = 'State, From, For, Last seen'
  const first = 'Running, 5 h ago, 2 h, 4 h ago'
  expect(rows(READ)).toEqual([head, 'not reported, 3 h ago, 3 h, 1 h ago', first])
  expect(rows(UNREAD)).toEqual([head, 'not reported, 3 h ago, 2 h, 1 h ago', first])
  const said = (resource: object) => made(page.stateSection({ ...resource, states })).all('p')[0]?.textContent
  expect(said(UNREAD)).toBe('As the platform reported it since the daemon started; last read 1 h ago.')
  expect(said(READ)).toMatch(/started\.$/)
  expect(page.stateSection({ ...READ, states: [] })).toBe('')
})

function fieldsOf(...verdicts: readonly string[]): readonly object[] {
  return verdicts.map((verdict, at) => ({
    field: `f${at}`,
    desired: 'x',
    observed: at === 0 ? undefined : 'y',
    verdict,
  }))
}

const INVALID = { conditions: { ...READ.conditions, Valid: { status: 'False' } } }
const AT = { checkedAt: NOW - MINUTE }

test.each<[object, string]>([
  [
    { comparison: 'read', fields: fieldsOf('differs', 'same'), ...AT },
    '1 of 2 fields differs. Read from the platform 1 min ago.',
  ],
  [
    { comparison: 'read', fields: fieldsOf('differs', 'differs'), ...AT },
    '2 of 2 fields differ. Read from the platform 1 min ago.',
  ],
  [{ comparison: 'read', fields: fieldsOf('same') }, 'No field differs. Read from the platform never.'],
  [
    { comparison: 'read', fields: fieldsOf('same'), ...INVALID, ...AT },
    'Compared with the last valid manifest: no field differs. Read from the platform 1 min ago.',
  ],
  [
    { comparison: 'read', fields: fieldsOf('never-returned', 'not-compared'), ...AT },
    'No readable field differs; 1 is write-only; 1 could not be compared. Read from the platform 1 min ago.',
  ],
  [
    { comparison: 'read', fields: fieldsOf('never-returned', 'never-returned'), ...AT },
    'No readable field differs; 2 are write-only. Read from the platform 1 min ago.',
  ],
  [
    { comparison: 'read-before-start', fields: fieldsOf('same'), ...AT },
    'Not compared yet: last read 1 min ago, before the daemon started.',
  ],
  [
    { comparison: 'not-found', fields: fieldsOf('same'), ...AT },
    'Not compared: the last check, 1 min ago, did not find the resource.',
  ],
  [{ comparison: 'never-read', fields: fieldsOf('same') }, 'This process has not read the platform yet.'],
  [{ comparison: 'no-manifest', fields: fieldsOf('same') }, 'Not compared: there is no manifest.'],
  [
    { comparison: 'no-manifest', fields: fieldsOf('same'), ...INVALID, ...AT },
    'Not compared: the manifest is invalid. Last read from the platform 1 min ago.',
  ],
])('a comparison %j', (resource, says) => {
  expect(made(page.fieldSection({ ...READ, ...resource })).all('p')[0]?.textContent).toBe(says)
})

function same(count: number): readonly string[] {
  return Array.from({ length: count }, () => 'same')
}

test('of many fields those that differ are shown, or the first ones, until all are asked for', () => {
  const section = (verdicts: readonly string[]) =>
    made(page.fieldSection({ ...READ, comparison: 'read', fields: fieldsOf(...verdicts) }))
  const rows = (verdicts: readonly string[]) => section(verdicts).all('tr').length - 1
  const button = (verdicts: readonly string[]) => section(verdicts).all('button')[0]
  const press = (verdicts: readonly string[]) => {
    const act = button(verdicts)?.attributes['onClick']
    if (typeof act === 'function') act()
  }
  const many = ['differs', ...same(12)]
  expect(page.fieldSection({ ...READ, fields: [] })).toBe('')
  expect([rows(same(12)), button(same(12))]).toEqual([12, undefined])
  expect([rows(same(13)), rows(many)]).toEqual([12, 1])
  const cells = section(many).all('td')
  expect(cells.map(({ attributes, textContent }) => [attributes['data-title'], textContent])).toEqual([
    ['Field', 'f0'],
    ['Manifest', 'x'],
    ['Platform', '–'],
    ['Compared', 'differs'],
  ])
  expect([section(many).all('ins').length, section(many).all('del').length]).toEqual([1, 0])
  expect(button(many)?.textContent).toBe('Show all 13 fields')
  press(many)
  expect([rows(many), button(many)?.textContent]).toEqual([13, 'Show fewer fields'])
  expect(section(many).all('td').at(-1)?.textContent).toBe('same')
  expect(section(many).all('ins').length).toBe(1)
  press(many)
  expect(rows(many)).toBe(1)
})

test.each([
  ['created', 'Wanted resource', 'No request is sent: the resource exists'],
  ['changed', 'Wanted resource', 'Pipewright sends edits of fields'],
  [
    'held',
    'Request that would be sent: createPipe',
    'No request is sent now. For the cause, see the top of this page.',
  ],
  ['create', 'Request: createPipe', 'Pipewright sends this to create the resource.'],
  ['apply', 'Request: createPipe', 'Pipewright sends this when the manifest changes'],
])('a request that is %s', (sending, title, text) => {
  const request = { operation: 'createPipe', method: 'POST', path: '/v1/pipes', body: { a: '[secret a/b]' } }
  const manifest = { document: { kind: 'Pipe' }, request, needs: [], neededBy: [], neededByCount: 0 }
  const shown = made(page.manifestSection({ manifest, sending, suspendedUntil: 'x' })).all('details')[0]
  expect(shown?.all('summary')[0]?.textContent).toBe(title)
  expect(shown?.textContent).toContain(text)
  expect(shown?.textContent).toContain('[secret a/b]')
  // A request only where one may be sent.
  expect(shown?.textContent.includes('POST /v1/pipes')).toBe(title.startsWith('Request'))
})

function storyOf(...entries: readonly object[]): readonly string[] {
  const items = made(page.storyItems(entries, { keys: true })).all('li')
  return items.map((item) => (item.all('div')[0]?.textContent ?? '').trim().replaceAll(/\s+/g, ' '))
}

test('what changed: commits with what they changed and removed, many as one line, and no Ready beside an invalid manifest', () => {
  const condition = { type: 'condition', key: 'Pipe/a', at: NOW, revision: 'r', message: 'In sync.' }
  const ready = { ...condition, condition: 'Ready', status: 'True', reason: 'NotJudged' }
  const invalid = {
    ...condition,
    condition: 'Valid',
    status: 'False',
    reason: 'InvalidManifest',
    at: NOW - 1,
  }
  const commit = { type: 'revision', at: NOW, revision: 'c', from: 'git', errors: 0, warnings: 0 }
  const keys = ['Pipe/a', 'Pipe/b', 'Pipe/c', 'Pipe/d']
  const created = { type: 'action', action: 'create', result: 'done', reason: 'New', key: 'Pipe/a', at: NOW }
  expect(storyOf(ready, invalid)).toEqual([
    'Pipe/a is still Invalid In sync.',
    'Pipe/a became Invalid In sync.',
  ])
  expect(
    storyOf(
      { ...commit, keys: keys.slice(0, 2), changed: 2, removed: 0 },
      { ...commit, keys: keys.slice(0, 1), changed: 1, removed: 1 },
      { ...commit, keys: keys.slice(0, 3), changed: 3, removed: 1 },
      { ...commit, keys: [], changed: 0, removed: 0 },
      { type: 'source', what: 'watch', at: NOW, message: 'watching everything below it' },
      { type: 'alike', at: NOW, revision: 'c', keys, more: false, entries: [ready] },
      { type: 'alike', at: NOW, revision: 'c', keys, more: true, entries: [created] },
      { ...commit, earlier: true, keys: [], changed: 0, removed: 0 },
    ),
  ).toEqual([
    'Commit c 2 manifests new or changed: Pipe/a Pipe/b',
    'Commit c 1 manifest removed: Pipe/a',
    'Commit c 2 manifests new or changed, 1 removed: Pipe/a Pipe/b Pipe/c',
    'Commit c no manifest changed',
    'Source watching everything below it',
    '4 resources became Ready: Pipe/a Pipe/b Pipe/c and 1 more',
    'At least 4 resources were created: Pipe/a Pipe/b Pipe/c and 1 more',
    'Commit c was read by an earlier process',
  ])
})
