import { masked } from '../support/masked.ts'
import { NOTHING_SAID_BEFORE } from '../../src/contract/events.ts'
import type { Browser, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HistoryEntry } from '../../src/contract/history.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { condition, fakeParts, NOW, overview, resource, REVISION, type Over } from '../server/fake-parts.ts'
import { startServer } from '../../src/server/server.ts'
import { running } from '../server/running.ts'
import { openPage, startBrowser } from './page-browser.ts'
import { until } from '../support/until.ts'

/* The page of one resource says nothing that was not read, and of what was, when. */

let browser: Browser

beforeAll(async () => {
  browser = await startBrowser()
})

afterAll(async () => {
  await browser.close()
})

const INVALID = {
  Valid: condition('False', { reason: 'InvalidManifest' }),
  Synced: condition('True'),
  Ready: condition('True'),
}
const BODY = { name: 'orders', scaling: { replicas: 2 } }
const READ_NOW = { observed: BODY, checkedAt: NOW - 180_000 }

const ROWS: readonly {
  readonly why: string
  readonly over: Over
  readonly desired: JsonObject | undefined
  readonly says: string
}[] = [
  {
    why: 'what is equal, with the age of the reading',
    over: READ_NOW,
    desired: BODY,
    says: 'No field differs. Read from the platform 3 min ago.',
  },
  {
    why: 'an edit during an outage',
    over: READ_NOW,
    desired: { ...BODY, scaling: { replicas: 5 } },
    says: '1 of 2 fields differs. Read from the platform 3 min ago.',
  },
  {
    why: 'fields that nobody can read back',
    over: READ_NOW,
    desired: { ...BODY, source: { kafka: { credentials: { password: '[secret kafka/password]' } } } },
    says: 'No field that can be read back differs; 1 is write-only. Read from the platform 3 min ago.',
  },
  {
    why: 'an invalid manifest after a restart',
    over: { ...READ_NOW, status: 'Invalid', reason: 'InvalidManifest', conditions: INVALID },
    desired: undefined,
    says: 'Not compared: the manifest is invalid. Last read from the platform 3 min ago.',
  },
  {
    why: 'an invalid manifest, while the last valid one is in force',
    over: { ...READ_NOW, status: 'Invalid', reason: 'InvalidManifest', conditions: INVALID },
    desired: BODY,
    says: 'Compared with the last valid manifest: no field differs. Read from the platform 3 min ago.',
  },
  {
    why: 'a pipe that is gone',
    over: { status: 'Missing', reason: 'Missing', checkedAt: NOW - 180_000 },
    desired: BODY,
    says: 'Not compared: it was not found at the last check, 3 min ago.',
  },
  {
    why: 'what only an earlier process read',
    over: { checkedAt: NOW - 2 * 3_600_000 },
    desired: BODY,
    says: 'Not compared yet: last read 2 h ago, before the daemon started.',
  },
  { why: 'what nobody read', over: {}, desired: BODY, says: 'This process has not read the platform yet.' },
]

describe('desired against observed', () => {
  test.each(ROWS)('$why: $says', async ({ over, desired, says }) => {
    const { url } = await running(fakeParts({ desired: () => desired }, [resource('Pipe/orders', over)]))
    await using watched = await openPage(browser, `${url}/?resource=Pipe/orders`)
    const { page, faults } = watched
    const said = page.locator('h2', { hasText: 'Desired against observed' }).locator('+ p')
    await said.waitFor()
    await expect.poll(() => said.textContent()).toBe(says)
    expect(faults()).toEqual([])
  })
})

function entry(over: Partial<Extract<HistoryEntry, { type: 'condition' }>>): HistoryEntry {
  return {
    type: 'condition',
    condition: 'Ready',
    status: 'True',
    reason: 'NotJudged',
    key: 'Pipe/orders',
    at: NOW,
    revision: REVISION,
    requestId: undefined,
    message: 'In sync.',
    ...over,
  }
}

describe('the history of a resource', () => {
  test('an invalid manifest does not become Ready because its pipe is there', async () => {
    const history = [
      entry({}),
      entry({ condition: 'Valid', status: 'False', reason: 'InvalidManifest', at: NOW - 60_000 }),
    ]
    const orders = resource('Pipe/orders', {
      status: 'Invalid',
      reason: 'InvalidManifest',
      conditions: INVALID,
    })
    const { url } = await running(fakeParts({}, [orders], history))
    await using watched = await openPage(browser, `${url}/?resource=Pipe/orders`)
    const lines = watched.page.locator('#one .story .entry')
    await lines.nth(1).waitFor()
    expect(await lines.first().textContent()).not.toContain('became Ready')
    await expect.poll(() => lines.first().textContent()).toContain('is still Invalid')
    expect(await lines.first().getAttribute('class')).not.toContain('good')
  })
})

test('in an outage a state says its age, in the table and on its page', async () => {
  const unavailable = condition('Unknown', { reason: 'Unavailable' })
  const over = {
    status: 'Failed',
    reason: 'Unavailable',
    state: masked('Running'),
    checkedAt: NOW - 180_000,
  } as const
  const orders = resource('Pipe/orders', {
    ...over,
    conditions: { Valid: condition('True'), Synced: unavailable, Ready: unavailable },
  })
  const parts = fakeParts({}, [
    orders,
    resource('Pipe/well', { state: masked('Running'), checkedAt: NOW - 180_000 }),
  ])
  parts.tell({ type: 'Observed', key: 'Pipe/orders', state: masked('Running'), differences: [] })
  const { url } = await running(parts)
  await using watched = await openPage(browser, url)
  const { page } = watched
  const rows = page.locator('.list tbody tr')
  await rows.nth(1).waitFor()
  await expect.poll(() => rows.nth(0).locator('td').nth(5).textContent()).toBe('Running, 3 min ago')
  await expect.poll(() => rows.nth(1).locator('td').nth(5).textContent()).toBe('Running')
  await page.goto(`${url}/?resource=Pipe/orders`)
  await page.locator('#one .facts', { hasText: 'Running, 3 min ago' }).waitFor()
  await expect.poll(() => page.locator('#states p').first().textContent()).toContain('; last read just now.')
})

describe('what changed', () => {
  const READING = {
    type: 'SourceLoaded',
    saidBefore: NOTHING_SAID_BEFORE,
    since: undefined,
    durationMs: 1,
    manifests: {},
    findings: [],
    problem: undefined,
    missedByWatcher: false,
  } as const

  test('tells what is removed, and of a commit that changed no manifest that', async () => {
    const parts = fakeParts({}, [resource('Pipe/orders')])
    const told = (id: string, changed: readonly Key[], removed: number) =>
      parts.tell({ ...READING, revision: { id, from: 'git' }, changed, removed })
    told('a', ['Pipe/a', 'Pipe/b'], 0)
    told('b', ['Pipe/b'], 1)
    told('c', ['Pipe/a', 'Pipe/b', 'Pipe/c'], 1)
    told('d', [], 0)
    parts.tell({ type: 'WatchModeChanged', mode: 'recursive', message: 'watching everything below it' })
    const { url } = await running(parts)
    await using watched = await openPage(browser, url)
    const lines = watched.page.locator('#entries .entry-title')
    await lines.nth(4).waitFor()
    const texts = (await lines.allTextContents())
      .map((text) => text.trim().replaceAll(/\s+/g, ' '))
      .toSorted()
    expect(texts).toEqual([
      'Commit a 2 manifests new or changed: Pipe/a Pipe/b',
      'Commit b 1 manifest removed: Pipe/b',
      'Commit c 2 manifests new or changed, 1 removed: Pipe/a Pipe/b Pipe/c',
      'Commit d no manifest changed',
      'Source watching everything below it',
    ])
  })
})

function created(key: Key, at: number): HistoryEntry {
  return {
    type: 'action',
    action: 'create',
    reason: 'New',
    result: 'done',
    key,
    at,
    revision: REVISION,
    message: 'Created.',
  }
}

test('what happened to many resources is one line each: the commit it came of can be seen', async () => {
  const keys = Array.from({ length: 300 }, (_, index): Key => `Pipe/p${index}`)
  const history = keys.flatMap((key, index) => {
    const at = NOW - index * 1_000
    const ready = entry({ key, at })
    return [ready, entry({ key, at, condition: 'Synced', reason: 'InSync' }), created(key, at - 1)]
  })
  history.push(entry({ condition: 'Valid', reason: 'Valid', at: NOW - 400_000 }))
  const parts = fakeParts(
    {},
    keys.map((key) => resource(key)),
    history,
  )
  const { url } = await running(parts)
  await using watched = await openPage(browser, url)
  const lines = watched.page.locator('#entries .entry-title')
  await lines.nth(3).waitFor()
  expect((await lines.allTextContents()).map((text) => text.trim().replaceAll(/\s+/g, ' '))).toEqual([
    '300 resources became Ready: Pipe/p0 Pipe/p1 Pipe/p2 and 297 more',
    '300 resources were created: Pipe/p0 Pipe/p1 Pipe/p2 and 297 more',
    'Pipe/orders became Valid In sync.',
    `Commit ${REVISION.slice(0, 10)} was read by an earlier process`,
  ])
})

test.each([
  ['since when no other revision came', { revisionSince: NOW - 3 * 86_400_000 }, '3 days ago'],
  ['nothing, where nobody knows', {}, undefined],
  ['nothing, where another one may be there', { revisionSince: 0, sourceProblem: 'No.' }, undefined],
])('the page says %s', async (_, over, said) => {
  const { url } = await running(fakeParts({ overview: () => overview(over) }, [resource('Pipe/orders')]))
  await using watched = await openPage(browser, url)
  const { page } = watched
  await page.locator('#source-inside dt', { hasText: /^Revision$/ }).waitFor({ state: 'attached' })
  const line = page.locator('#source-inside dt', { hasText: 'No other revision since' }).locator('+ dd')
  expect((await line.allTextContents())[0]).toBe(said)
})

/** Keeps in `emptyPages` the number of each page that was drawn without a row. */
const NOTES_EMPTY_PAGES = `
  globalThis.emptyPages = []
  new MutationObserver(() => {
    const number = document.querySelector('#which-page')
    if (number !== null && document.querySelector('.list tbody tr') === null) emptyPages.push(number.textContent)
  }).observe(document, { childList: true, subtree: true, characterData: true })`

describe('a page that has nothing to show', () => {
  test('a first start without a directory keeps no last state, and has no revision', async () => {
    const sourceProblem = 'The manifests directory is missing.'
    const revision = { id: 'content-e3b0c44298fc', from: 'content' } as const
    const { url } = await running(fakeParts({ overview: () => overview({ sourceProblem, revision }) }))
    await using watched = await openPage(browser, url)
    const { page } = watched
    await page.locator('h1', { hasText: 'The manifests directory is missing.' }).waitFor()
    const text = await page.locator('main').textContent()
    expect(text).not.toMatch(/keeping the last state|content-e3b0|above the link/)
  })

  test('a page beyond the last is the last; a filter that nothing unwell matches says so', async () => {
    const many = Array.from({ length: 60 }, (_, index) => resource(`Alert/a${index}`))
    const { url } = await running(fakeParts({}, many))
    await using watched = await openPage(browser, `${url}/?page=9999&kind=Alert`, {
      watch: NOTES_EMPTY_PAGES,
    })
    const { page } = watched
    await page.locator('#which-page', { hasText: 'Page 2 of 2' }).waitFor()
    await expect.poll(() => page.locator('.list tbody tr').count()).toBe(10)
    await expect.poll(() => page.evaluate('globalThis.emptyPages')).toEqual([])
    await expect
      .poll(() => page.locator('#unwell-section').textContent())
      .toContain('No matching resource needs attention.')
    expect(await page.locator('body').textContent()).not.toContain('and 0 more')
  })

  test('what is not there is said in a sentence, with the way back', async () => {
    const { url } = await running(fakeParts())
    await using watched = await openPage(browser, `${url}/?resource=Pipe/nothing`, { mayLose: true })
    const { page } = watched
    await page.locator('#one p', { hasText: 'There is no' }).waitFor()
    await expect.poll(() => page.locator('#back').isVisible()).toBe(true)
  })
})

test('a click before the first reply is not called live', async () => {
  const { url } = await running(fakeParts({}, [resource('Pipe/orders')]))
  const context = await browser.newContext()
  const page = await context.newPage()
  const held: Route[] = []
  await page.route('**/api/v1/page?*', (route) => void held.push(route))
  const streamed = page.waitForResponse('**/api/v1/events')
  await page.goto(url)
  await streamed
  await until('the first request', () => held.length === 1)
  await page.evaluate(
    `history.pushState({}, '', '?resource=Pipe/orders'); dispatchEvent(new Event('addresschange'))`,
  )
  await until('the request of the click', () => held.length === 2)
  await expect.poll(() => page.locator('#connection').getAttribute('class')).toBe('waiting')
  await held[1]?.continue()
  await page.locator('#connection.live').waitFor()
  await context.close()
})

test('a click while the connection is lost opens a page with a sentence and the way back', async () => {
  const parts = fakeParts({}, [resource('Pipe/orders')])
  const server = await startServer(parts)
  await using watched = await openPage(browser, server.url, { mayLose: true })
  const { page } = watched
  await page.locator('#list .key').waitFor()
  await server.close()
  await page.locator('#connection.lost').waitFor()
  await page.locator('#list .key').click()
  await page.locator('#one p', { hasText: 'The daemon does not answer.' }).waitFor()
  await page.locator('#back').click()
  await expect.poll(() => page.locator('#list .key').isVisible()).toBe(true)
})

test('a history that was trimmed is not called empty', async () => {
  const { url } = await running(fakeParts({}, [resource('Pipe/orders')]))
  await using watched = await openPage(browser, `${url}/?resource=Pipe/orders`)
  const said = watched.page.locator('h2', { hasText: 'History' }).locator('+ p')
  await said.waitFor()
  await expect.poll(() => said.textContent()).toBe('Older entries are no longer kept.')
})
