import type { Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { fakeParts, NOW, overview, resource } from '../server/fake-parts.ts'
import { startServer } from '../../src/server/server.ts'
import { running } from '../server/running.ts'
import { openPage, openTab } from './page-browser.ts'
import { until } from '../support/until.ts'

/* The page of one resource says nothing that was not read, and of what was, when. */

test.each([
  ['since when no other revision came', { revisionSince: NOW - 3 * 86_400_000 }, '3 days ago'],
  ['nothing, where nobody knows', {}, undefined],
  ['nothing, where another one may be there', { revisionSince: 0, sourceProblem: 'No.' }, undefined],
])('the page says %s', async (_, over, said) => {
  const { url } = await running(fakeParts({ overview: () => overview(over) }, [resource('Pipe/orders')]))
  await using watched = await openPage(url)
  const { page } = watched
  await page.locator('#source-inside dt', { hasText: /^Revision$/ }).waitFor({ state: 'attached' })
  const line = page.locator('#source-inside dt', { hasText: 'No other revision since' }).locator('+ dd')
  expect((await line.allTextContents())[0]).toBe(said)
})

test.each([
  [{}, 'Last check', 'never'],
  [{ appliedAt: NOW - 60_000 }, 'Last applied', '1 min ago'],
  [{ appliedAt: NOW - 60_000, checkedAt: NOW - 120_000 }, 'Last check', '2 min ago'],
])('of a query endpoint with %j the page says: %s %s', async (over, name, said) => {
  const { url } = await running(fakeParts({}, [resource('QueryEndpoint/orders', over)]))
  await using watched = await openPage(`${url}/?resource=QueryEndpoint/orders`)
  const line = watched.page.locator('dt', { hasText: /^Last / }).locator('+ dd')
  await line.waitFor({ state: 'attached' })
  expect(await watched.page.locator('dt', { hasText: /^Last / }).allTextContents()).toEqual([name])
  expect(await line.textContent()).toContain(said)
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
    await using watched = await openPage(url)
    const { page } = watched
    await page.locator('h1', { hasText: 'The manifests directory is missing.' }).waitFor()
    const text = await page.locator('main').textContent()
    expect(text).not.toMatch(/keeping the last state|content-e3b0|above the link/)
  })

  test('a page beyond the last is the last; a filter that nothing unwell matches says so', async () => {
    const many = Array.from({ length: 60 }, (_, index) => resource(`Alert/a${index}`))
    const { url } = await running(fakeParts({}, many))
    await using watched = await openPage(`${url}/?page=9999&kind=Alert`, {
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
    await using watched = await openPage(`${url}/?resource=Pipe/nothing`, { mayLose: true })
    const { page } = watched
    await page.locator('#one p', { hasText: 'There is no' }).waitFor()
    await expect.poll(() => page.locator('#back').isVisible()).toBe(true)
  })
})

test('a click before the first reply is not called live', async () => {
  const { url } = await running(fakeParts({}, [resource('Pipe/orders')]))
  await using tab = await openTab()
  const { page } = tab
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
})

test('a click while the connection is lost opens a page with a sentence and the way back', async () => {
  const parts = fakeParts({}, [resource('Pipe/orders')])
  const server = await startServer(parts)
  await using watched = await openPage(server.url, { mayLose: true })
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
  await using watched = await openPage(`${url}/?resource=Pipe/orders`)
  const said = watched.page.locator('h2', { hasText: 'History' }).locator('+ p')
  await said.waitFor()
  await expect.poll(() => said.textContent()).toBe('Older entries are no longer kept.')
})
