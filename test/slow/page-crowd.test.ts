import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { conditionEntry } from '../support/events.ts'
import { fakeParts, resource } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { openPage, partsThatSay, openTab } from './page-browser.ts'

/** What the page does where something is refused because it is too much, or held back on its way. */

/** A stream of events that stays open; the returned function ends it. */
async function listen(port: number): Promise<() => void> {
  const request = get({ host: '127.0.0.1', port, path: '/api/v1/events', agent: false })
  request.on('error', () => {})
  const [reply] = (await once(request, 'response')) as [IncomingMessage] // of this event
  reply.on('error', () => {})
  reply.resume()
  expect(reply.statusCode).toBe(200)
  return () => request.destroy()
}

test('where too many listen, the page asks again and again, and says so', async () => {
  const { parts, say } = partsThatSay('gone')
  const { url, port } = await running(parts)
  const ends = await Promise.all(Array.from({ length: 100 }, () => listen(port)))
  await using tab = await openTab()
  const { page } = tab
  await page.goto(url)
  await page.locator('#connection.waiting', { hasText: 'no live updates: refreshed every 30 s' }).waitFor()
  await page.locator('#list', { hasText: 'gone' }).waitFor()
  await expect.poll(() => page.locator('#lost').isVisible()).toBe(false)
  say('gone since yesterday')
  await page.locator('#list', { hasText: 'gone since yesterday' }).waitFor()
  await expect.poll(() => page.locator('body.old').count()).toBe(0)

  for (const end of ends) end()
  await page.locator('#connection.live').waitFor()
})

/** Lets time pass in the page until something is so. */
function passUntil(page: Page, isSo: () => Promise<boolean>): Promise<void> {
  return expect
    .poll(async () => {
      await page.clock.fastForward(5_000)
      return isSo()
    })
    .toBe(true)
}

test('where a proxy holds the stream of events back, the page asks again and again, and says so', async () => {
  const { parts, say } = partsThatSay('gone')
  const { url } = await running(parts)
  await using tab = await openTab()
  const { page } = tab
  await page.clock.install()
  const held: Route[] = []
  await page.route('**/api/v1/events', (route) => void held.push(route))
  await page.goto(url)
  await page.locator('#list', { hasText: 'gone' }).waitFor()
  await page.clock.fastForward(16_000)
  await page.locator('#connection.waiting', { hasText: 'no live updates: refreshed every 30 s' }).waitFor()
  say('gone since yesterday')
  const refreshed = page.locator('#list', { hasText: 'gone since yesterday' })
  await passUntil(page, async () => (await refreshed.count()) === 1)
  expect(held.length).toBeGreaterThan(1)
  await expect.poll(() => page.locator('#lost').isVisible()).toBe(false)

  await page.unroute('**/api/v1/events')
  await passUntil(page, async () => (await page.locator('#connection.live').count()) === 1)
})

test('a page of which a script does not arrive says so, and how to go on', async () => {
  const { url } = await running(fakeParts())
  await using tab = await openTab()
  const { page } = tab
  await page.route('**/list.js', (route) => route.abort('connectionreset'))
  await page.goto(url)
  const incomplete = page.getByText('Not all of this page has arrived. Load it again.')
  await incomplete.waitFor()
  await page.unroute('**/list.js')
  await page.getByRole('link', { name: 'Load it again' }).click()
  await page.locator('#connection.live').waitFor()
  await expect.poll(() => incomplete.count()).toBe(0)
})

test('a search of too many words says how many there may be, and goes on when some are left out', async () => {
  const clicks = resource('Pipe/clicks', { status: 'Missing', reason: 'Missing' })
  const { url } = await running(
    fakeParts(
      {},
      [clicks],
      [conditionEntry({ status: 'False', reason: 'Missing', key: 'Pipe/clicks', message: 'gone' })],
    ),
  )
  await using watched = await openPage(url)
  const { page } = watched
  const story = page.locator('#entries li')
  await page.locator('#q').fill('click')
  await page.locator('#unwell', { hasText: 'Pipe/clicks' }).waitFor()
  await story.first().waitFor()
  const sentence = 'q takes at most 16 words of 100 letters each. Leave some out.'
  await page.locator('#q').fill(Array.from({ length: 17 }, () => 'c').join(' '))
  await page.locator('#matches[role=status]', { hasText: sentence }).waitFor()
  await expect.poll(() => page.locator('#list').textContent()).toBe('')
  await expect.poll(() => page.locator('#q').inputValue()).toContain('c c c')
  // What was found before is not what matches now, and neither is nothing.
  await page.locator('#unwell-section').waitFor({ state: 'hidden' })
  await expect.poll(() => story.count()).toBe(0)
  await expect.poll(() => page.locator('#story-empty').isVisible()).toBe(false)
  await page.locator('#q').fill('clicks')
  await page.locator('#matches', { hasText: '1 in all' }).waitFor()
  await expect.poll(() => page.locator('#list .key').count()).toBe(1)
  await page.locator('#unwell', { hasText: 'Pipe/clicks' }).waitFor()
  await story.first().waitFor()
  expect(watched.faults().filter((fault) => !fault.includes('400'))).toEqual([])
})
