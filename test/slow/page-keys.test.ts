import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { fakeParts, resource } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { openPage } from './page-browser.ts'

/* What the keys do, and where the focus is. */

const CLICKS = resource('Pipe/clicks', { status: 'Missing', reason: 'Missing', labels: { team: 'web' } })

const RESOURCES = [CLICKS, resource('Pipe/orders')]

function focused(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.id || document.activeElement.getAttribute("aria-label")')
}

describe('keys', () => {
  test('Escape clears the text, then every filter', async () => {
    const { url } = await running(fakeParts({}, RESOURCES))
    await using watched = await openPage(`${url}/?kind=Pipe&label=team%3Dweb&q=clicks&sort=status`)
    const { page } = watched
    await page.locator('#matches', { hasText: '1 of 2 match' }).waitFor()
    await page.locator('#q').press('Escape')
    await page.waitForURL((to) => !to.search.includes('q=') && to.search.includes('label='))
    await page.locator('#q').press('Escape')
    await page.waitForURL((to) => to.search === '?sort=status')
    await page.locator('#matches', { hasText: '2 in all' }).waitFor()
    await expect.poll(() => focused(page)).toBe('q')
  })

  test('Escape on the page clears every filter', async () => {
    const { url } = await running(fakeParts({}, RESOURCES))
    await using watched = await openPage(`${url}/?label=team%3Dweb`)
    const { page } = watched
    await page.locator('#matches', { hasText: '1 of 2 match' }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('#matches', { hasText: '2 in all' }).waitFor()
    expect(new URL(page.url()).search).toBe('')
  })

  test('a slash on the page of a resource goes to the search, and the focus stays there', async () => {
    const { url } = await running(fakeParts({}, RESOURCES))
    await using watched = await openPage(url)
    const { page } = watched
    await page.locator('#list .key').first().click()
    await page.locator('#one .facts').first().waitFor()
    await page.keyboard.press('/')
    await page.locator('#list .key').first().waitFor()
    await page.waitForTimeout(300) // what came back late took the focus away
    await expect.poll(() => focused(page)).toBe('q')
  })

  test('the focus on the button of a card stays when the cards are drawn again', async () => {
    let message = 'gone'
    const board = {
      get: () => CLICKS,
      list: () => [{ ...CLICKS, because: { reason: 'Rejected', facts: { said: message } } } as const],
      get version() {
        return message.length
      },
    }
    const parts = fakeParts({ board }, [CLICKS])
    const { url } = await running(parts)
    await using watched = await openPage(url)
    const { page } = watched
    await page.locator('#unwell .copy').first().focus()
    const before = await focused(page)
    expect(before).toMatch(/^Copy /)
    message = 'gone since yesterday'
    parts.change({ type: 'resources', keys: ['Pipe/clicks'] })
    await parts.clock.advance(5_000)
    await page.locator('#unwell', { hasText: message }).waitFor()
    await expect.poll(() => focused(page)).toBe(before)
  })
})

describe('loading', () => {
  test('moves nothing that is seen already', async () => {
    const many = Array.from({ length: 18 }, (_, index) =>
      resource(`Pipe/p${index}`, { status: 'OutcomeUnknown', reason: 'OutcomeUnknown', message: `${index}` }),
    )
    const { url } = await running(fakeParts({}, many))
    const watch = `globalThis.shift = 0
      new PerformanceObserver((list) => { for (const entry of list.getEntries()) globalThis.shift += entry.value })
        .observe({ type: 'layout-shift', buffered: true })`
    await using watched = await openPage(url, { watch, viewport: { width: 1440, height: 900 } })
    await watched.page.locator('.list tbody tr').nth(17).waitFor()
    await watched.page.waitForTimeout(300)
    await expect.poll(() => watched.page.evaluate('shift')).toBeLessThan(0.05)
  })
})
