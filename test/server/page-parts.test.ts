import { afterAll, beforeAll, expect, test, vi } from 'vitest'

/* What the parts of the page show, without a browser: `test/slow/page-*` has one. */

type Child = Made | string

/** As much of an element as these parts use. */
class Made {
  readonly tag: string
  children: Child[] = []
  readonly dataset: Record<string, string> = {}
  readonly attributes: Record<string, string> = {}
  readonly acts: (() => void)[] = []
  writes = 0

  constructor(tag: string) {
    this.tag = tag
  }

  setAttribute(name: string, value: string): void {
    this.attributes[name] = value
  }

  append(...children: Child[]): void {
    this.children.push(...children)
  }

  replaceWith(other: Made): void {
    this.children = other.children
  }

  addEventListener(_type: string, act: () => void): void {
    this.acts.push(act)
  }

  focus(): void {
    this.dataset['focused'] = ''
  }

  get cells(): readonly Made[] {
    return this.children.filter((child) => typeof child !== 'string')
  }

  get textContent(): string {
    return this.children.map((child) => (typeof child === 'string' ? child : child.textContent)).join('')
  }

  set textContent(text: string) {
    this.writes += 1
    this.children = [text]
  }

  /** Itself and all below it that have this tag. */
  all(tag: string): readonly Made[] {
    return [...(this.tag === tag ? [this] : []), ...this.cells.flatMap((cell) => cell.all(tag))]
  }
}

interface Page {
  byId(id: string): Made
  setText(id: string, text: string): void
  element(tag: string, attributes: object, ...children: (Child | undefined)[]): Made
  fact(name: string, value: Child | undefined): Made | undefined
  facts(...list: (Made | undefined)[]): Made
  prose(text: string): Made
  worded(name: string): string
  badge(status: string): Made
  place(file: string | undefined, line: number | undefined): string
  plural(count: number, noun: string): string
  setServerTime(now: number): void
  readonly ago: (at: number) => Made
  readonly until: (at: number) => Made
  readonly lasting: (at: number) => Made
  sinceWhen(at: number): Made
  setTime(id: string, at: number): void
  timeNamed(id: string, made: Made): Made
  tick(): void
  duration(milliseconds: number): string
  exactly(at: number): string
  stateWords(resource: object): Made | undefined
  stateSection(resource: object): readonly Made[]
  fieldSection(resource: object): readonly Made[]
}

const NOW = Date.parse('2026-11-21T12:00:00Z')
const [MINUTE, HOUR] = [60_000, 3_600_000]
const shown = new Map<string, Made>()
let page: Page

function show(id: string): Made {
  const made = new Made('p')
  shown.set(id, made)
  return made
}

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW - HOUR })
  vi.stubGlobal('HTMLElement', Made)
  vi.stubGlobal('document', {
    createElement: (tag: string) => new Made(tag),
    getElementById: (id: string) => shown.get(id),
    querySelectorAll: () => shown.values(),
  })
  const parts = ['elements', 'time', 'states', 'compared'].map(
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
  const made = page.element(
    'a',
    { id: 'x\u200B', no: false, none: undefined, yes: true },
    'a\u202Eb\n',
    '',
    undefined,
  )
  expect(made.attributes).toEqual({ id: String.raw`x\u{200b}`, yes: '' })
  expect(made.children).toEqual(['a\\u{202e}b\n'])
  expect(page.prose('run `plan` or `apply').children.map((child) => (child as Made).tag)).toEqual([
    'bdi',
    'code',
    'bdi',
    'bdi',
  ])
  expect(page.facts(page.fact('a', '1'), page.fact('b', ''), page.fact('c', undefined)).textContent).toBe(
    'a1',
  )
  expect(page.badge('NotReady')).toMatchObject({
    attributes: { class: 'badge warn' },
    children: ['Not ready'],
  })
  expect([page.place('a', 3), page.place('a', undefined), page.place(undefined, 3)]).toEqual(['a:3', 'a', ''])
  expect([page.plural(1, 'error'), page.plural(0, 'error')]).toEqual(['1 error', '0 errors'])
})

test('a text is written only if it changes', () => {
  const made = show('one')
  for (const text of ['a', 'a', 'b']) page.setText('one', text)
  expect([made.textContent, made.writes]).toEqual(['b', 2])
  expect(() => page.byId('none')).toThrow('the page has no Made "none"')
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
  const told = (make: (at: number) => Made, ...from: readonly number[]) =>
    from.map((ms) => make(NOW + ms).textContent)
  expect(told(page.ago, -4_999, 4_999, -5_000, 5_000)).toEqual(['just now', 'just now', '5 s ago', 'in 5 s'])
  expect(told(page.until, MINUTE, 0, -MINUTE)).toEqual(['in 1 min', 'due', 'due'])
  expect(told(page.lasting, -MINUTE, 0, MINUTE)).toEqual(['for 1 min', 'for 1 s', 'for 1 s'])
  const [today, before] = [20 * HOUR - 1, 20 * HOUR].map((ms) => page.sinceWhen(NOW - ms).textContent)
  expect(today).toMatch(/^since [^,]*, for 20 h$/)
  expect(before).toBe(`since ${page.exactly(NOW - 20 * HOUR)}, for 20 h`)
  expect(page.ago(NOW).attributes).toEqual({ datetime: '2026-11-21T12:00:00.000Z', title: page.exactly(NOW) })
})

test('each shown time goes on, and is written only if it changes', () => {
  shown.clear()
  const made = show('read-at')
  page.setTime('read-at', NOW - MINUTE)
  expect(made).toMatchObject({ textContent: '1 min ago', title: page.exactly(NOW - MINUTE), writes: 1 })
  show('other')
  page.tick()
  expect(made.writes).toBe(1)
  vi.setSystemTime(NOW)
  page.setServerTime(NOW + 2 * MINUTE)
  page.tick()
  expect([...shown.values()].map(({ textContent, writes }) => [textContent, writes])).toEqual([
    ['3 min ago', 2],
    ['', 0],
  ])
  page.setServerTime(NOW)
})

const READ = { conditions: { Synced: { status: 'True' }, Valid: { status: 'True' } } }
const UNREAD = { conditions: { Synced: { status: 'Unknown' }, Valid: { status: 'True' } } }

function words(resource: object): string | undefined {
  return page.stateWords(resource)?.textContent
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
    page
      .stateSection({ ...resource, states })
      .flatMap((part) => part.all('tr'))
      .map((row) => row.cells.map((cell) => cell.textContent).join(', '))
  const head = 'State, From, For, Last seen'
  const first = 'Running, 5 h ago, 2 h, 4 h ago'
  expect(rows(READ)).toEqual([head, 'not reported, 3 h ago, 3 h, 1 h ago', first])
  expect(rows(UNREAD)).toEqual([head, 'not reported, 3 h ago, 2 h, 1 h ago', first])
  const [, said] = page.stateSection({ ...UNREAD, states })
  expect(said?.textContent).toBe('As the platform reported it since the daemon started; last read 1 h ago.')
  expect(page.stateSection({ ...READ, states })[1]?.textContent).toMatch(/started\.$/)
  expect(page.stateSection({ ...READ, states: [] })).toEqual([])
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
    'No field that can be read back differs; 1 is write-only; 1 could not be compared. Read from the platform 1 min ago.',
  ],
  [
    { comparison: 'read', fields: fieldsOf('never-returned', 'never-returned'), ...AT },
    'No field that can be read back differs; 2 are write-only. Read from the platform 1 min ago.',
  ],
  [
    { comparison: 'read-before-start', fields: fieldsOf('same'), ...AT },
    'Not compared yet: last read 1 min ago, before the daemon started.',
  ],
  [
    { comparison: 'not-found', fields: fieldsOf('same'), ...AT },
    'Not compared: it was not found at the last check, 1 min ago.',
  ],
  [{ comparison: 'never-read', fields: fieldsOf('same') }, 'This process has not read the platform yet.'],
  [{ comparison: 'no-manifest', fields: fieldsOf('same') }, 'Not compared: there is no manifest.'],
  [
    { comparison: 'no-manifest', fields: fieldsOf('same'), ...INVALID, ...AT },
    'Not compared: the manifest is invalid. Last read from the platform 1 min ago.',
  ],
])('a comparison %j', (resource, says) => {
  const [section] = page.fieldSection({ ...READ, ...resource })
  expect(section?.all('p')[0]?.textContent).toBe(says)
})

function same(count: number): readonly string[] {
  return Array.from({ length: count }, () => 'same')
}

test('of many fields those that differ are shown, or the first ones, until all are asked for', () => {
  const shownOf = (verdicts: readonly string[]) => {
    const [section] = page.fieldSection({ ...READ, comparison: 'read', fields: fieldsOf(...verdicts) })
    return {
      section,
      rows: () => (section?.all('tr').length ?? 0) - 1,
      press: () => section?.all('button')[0],
    }
  }
  expect(page.fieldSection({ ...READ, fields: [] })).toEqual([])
  expect([shownOf(same(12)).rows(), shownOf(same(12)).press()]).toEqual([12, undefined])
  expect([shownOf(same(13)).rows(), shownOf(['differs', ...same(12)]).rows()]).toEqual([12, 1])
  const { section, rows, press } = shownOf(['differs', ...same(12)])
  expect(section?.all('td').map((cell) => [cell.dataset['title'], cell.textContent])).toEqual([
    ['Field', 'f0'],
    ['Manifest', 'x'],
    ['Platform', '–'],
    ['Compared', 'differs'],
  ])
  expect([section?.all('ins').length, section?.all('del').length]).toEqual([1, 0])
  shown.set('all-fields', new Made('button'))
  expect(press()?.textContent).toBe('Show all 13 fields')
  press()?.acts[0]?.()
  expect([rows(), press()?.textContent, shown.get('all-fields')?.dataset]).toEqual([
    13,
    'Show fewer fields',
    { focused: '' },
  ])
  expect(section?.all('td').at(-1)?.textContent).toBe('same')
  expect(section?.all('ins').length).toBe(1)
  press()?.acts[0]?.()
  expect(shownOf(['differs', ...same(12)]).rows()).toBe(1)
})
