import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { ResourceStatus } from '../../src/contract/status.ts'
import { fakeParts, resource } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { openPage, startBrowser } from './page-browser.ts'

/* A page is read by somebody who is in a hurry: with 18 resources it is short, whatever is wrong. */

const TALLEST = 2_500

let browser: Browser

beforeAll(async () => {
  browser = await startBrowser()
})

afterAll(async () => {
  await browser.close()
})

const CONDITION = { status: 'False', message: 'The platform does not answer.', since: 0 } as const

function down(key: Key, service: string): ResourceStatus {
  const condition = { ...CONDITION, reason: 'Unavailable' } as const
  const conditions = { ...resource(key).conditions, Synced: condition, Ready: condition }
  return resource(key, {
    status: 'Failed',
    reason: 'Unavailable',
    service,
    conditions,
    message: condition.message,
  })
}

function mistaken(key: Key): ResourceStatus {
  const { conditions } = resource(key)
  const facts = { said: `${key}: no such field`, mistake: 'unknown-field: no such field' }
  const Valid = { ...CONDITION, reason: 'InvalidManifest', facts } as const
  return resource(key, { status: 'Invalid', reason: 'InvalidManifest', conditions: { ...conditions, Valid } })
}

const keys = (count: number) => Array.from({ length: count }, (_, index): Key => `Pipe/p${index}`)

const ROWS: readonly {
  readonly why: string
  readonly resources: readonly ResourceStatus[]
  readonly cards: number
  /** Pixels, where it is more than {@link TALLEST}. */
  readonly tallest?: number
}[] = [
  { why: 'with nothing wrong', resources: keys(18).map((key) => resource(key)), cards: 0 },
  {
    why: 'in an outage of the platform: one card over all services',
    resources: keys(18).map((key, index) => down(key, `service-${index % 3}`)),
    cards: 1,
  },
  { why: 'with 21 equal mistakes: one card', resources: keys(21).map(mistaken), cards: 1 },
  {
    why: 'with nine causes: five cards are open, the others are a line each',
    resources: keys(18).map((key, index) =>
      index < 9
        ? resource(key, {
            status: 'OutcomeUnknown',
            reason: 'OutcomeUnknown',
            message: `Nobody knows ${index}.`,
          })
        : resource(key),
    ),
    cards: 9,
    tallest: 3_000,
  },
]

describe('18 resources at 1440 pixels', () => {
  test.each(ROWS)('$why', async ({ resources, cards, tallest = TALLEST }) => {
    const { url } = await running(fakeParts({}, resources))
    await using watched = await openPage(browser, url, { viewport: { width: 1440, height: 900 } })
    const { page, faults } = watched
    await page.locator('.list tbody tr').nth(17).waitFor()
    expect(await page.locator('#unwell > li').count()).toBe(cards)
    expect(await page.locator('#unwell > li details').count()).toBe(Math.max(0, cards - 5))
    const heights: number[] = await page
      .locator('.list tbody tr')
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
    expect(Math.max(...heights), 'a row is one line').toBeLessThan(45)
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(tallest)
    expect(faults()).toEqual([])
  })

  test('a cause that is a line opens, and stays open when the page is drawn again', async () => {
    const { resources } = ROWS[3] ?? { resources: [] }
    const { url } = await running(fakeParts({}, resources))
    await using watched = await openPage(browser, url, { viewport: { width: 1440, height: 900 } })
    const { page } = watched
    const line = page.locator('#unwell > li details').first()
    await line.locator('summary').click()
    expect(await line.locator('.card').isVisible()).toBe(true)
  })
})
