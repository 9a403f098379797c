import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { ResourceView } from '../../src/contract/view.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'
import type { Finding } from '../../src/kinds/finding.ts'
import { conditionEntry } from '../support/events.ts'
import { fakeParts, finding, NOW, overview, resource } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { openPage } from './page-browser.ts'

/* A page is read by somebody who is in a hurry: with 18 resources it is short, whatever is wrong. */

const TALLEST = 2_500

const CONDITION = { status: 'False', since: 0 } as const

function down(key: Key, service: string): ResourceView {
  const facts = { said: 'The platform does not answer.' }
  const condition = { ...CONDITION, reason: 'Unavailable', facts } as const
  const conditions = { ...resource(key).conditions, Synced: condition, Ready: condition }
  return resource(key, {
    status: 'Failed',
    reason: 'Unavailable',
    service,
    conditions,
    because: condition,
  })
}

function limited(key: Key, service: string): ResourceView {
  const facts = { said: 'The platform asks to wait (HTTP 429).' }
  const condition = { ...CONDITION, reason: 'RateLimited', facts } as const
  const conditions = { ...resource(key).conditions, Synced: condition }
  return resource(key, { status: 'Failed', reason: 'RateLimited', service, conditions, because: condition })
}

function mistaken(key: Key): ResourceView {
  const { conditions } = resource(key)
  const facts = { said: `${key}: no such field`, mistake: 'unknown-field: no such field' }
  const Valid = { ...CONDITION, reason: 'InvalidManifest', facts } as const
  return resource(key, { status: 'Invalid', reason: 'InvalidManifest', conditions: { ...conditions, Valid } })
}

function mistake(key: Key, index: number): Finding {
  const message = `There is no field "typ" in spec.destination.columns[${index}].`
  return finding({ key, file: `pipes/${index}.yaml`, line: 28, message, hint: 'Did you mean "type"?' })
}

/** More than one step of the story, each with a long message, and too far from each other to be one line. */
function story(resources: readonly ResourceView[]): readonly HistoryEntry[] {
  const message = 'The platform does not answer: '.repeat(10)
  return resources.map(({ key }, index) =>
    conditionEntry({ status: 'Unknown', reason: 'Unavailable', key, at: NOW - index * 61_000, message }),
  )
}

const keys = (count: number) => Array.from({ length: count }, (_, index): Key => `Pipe/p${index}`)

const ROWS: readonly {
  readonly why: string
  readonly resources: readonly ResourceView[]
  readonly cards: number
  /** How many of them are a line. */
  readonly lines?: number
  readonly findings?: readonly Finding[]
}[] = [
  { why: 'with nothing wrong', resources: keys(18).map((key) => resource(key)), cards: 0 },
  {
    why: 'in an outage of the platform: one card over all services',
    resources: keys(18).map((key, index) => down(key, `service-${index % 3}`)),
    cards: 1,
  },
  {
    why: 'with 21 equal mistakes: one card, and one finding with its places',
    resources: keys(21).map(mistaken),
    findings: keys(21).map((key, index) => mistake(key, index)),
    cards: 1,
  },
  {
    why: 'in an outage, with mistakes that differ by their place in a list',
    resources: keys(18).map((key, index) => down(key, `service-${index % 3}`)),
    findings: keys(18).map((key, index) => mistake(key, index)),
    cards: 1,
  },
  {
    why: 'with 503, 429 and resets at once: a card for the platform, and one for each service that is asked to wait',
    resources: keys(18).map((key, index) =>
      index % 2 === 0 ? down(key, `service-${index % 6}`) : limited(key, `service-${index % 6}`),
    ),
    findings: keys(3).map((key, index) => mistake(key, index)),
    cards: 4,
    lines: 2,
  },
  {
    why: 'with nine causes of one reason: one card is open, the others are a line each',
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
    lines: 8,
  },
]

describe('18 resources at 1440 pixels', () => {
  test.each(ROWS)('$why', async ({ resources, findings = [], cards, lines = 0 }) => {
    const { url } = await running(
      fakeParts({ overview: () => overview({ findings }) }, resources, story(resources)),
    )
    await using watched = await openPage(url, { viewport: { width: 1440, height: 900 } })
    const { page, faults } = watched
    await page.locator('.list tbody tr').nth(17).waitFor()
    await expect.poll(() => page.locator('#unwell > li').count()).toBe(cards)
    await expect.poll(() => page.locator('#unwell > li details').count()).toBe(lines)
    const heights: number[] = await page
      .locator('.list tbody tr')
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
    expect(Math.max(...heights), 'a row is one line').toBeLessThan(45)
    const height = await page.evaluate('document.documentElement.scrollHeight')
    expect(height).toBeLessThanOrEqual(TALLEST)
    await expect.poll(() => page.locator('#findings .finding').count()).toBe(findings.length === 0 ? 0 : 1)
    expect(faults()).toEqual([])
  })

  test('a cause that is a line opens, and stays open when the page is drawn again', async () => {
    const { resources } = ROWS.find(({ cards }) => cards === 9) ?? { resources: [] }
    const { url } = await running(fakeParts({}, resources))
    await using watched = await openPage(url, { viewport: { width: 1440, height: 900 } })
    const { page } = watched
    const line = page.locator('#unwell > li details').first()
    await line.locator('summary').click()
    await expect.poll(() => line.locator('.card').isVisible()).toBe(true)
  })

  test('findings are those that the filter shows, and their places are links with the line', async () => {
    const all = keys(3).map((key, index) => mistake(key, index))
    const repositoryUrl = 'https://git.example/blob/{revision}/{file}'
    const parts = fakeParts(
      { overview: () => overview({ findings: all, repositoryUrl }) },
      keys(3).map(mistaken),
    )
    const { url } = await running(parts)
    await using watched = await openPage(url)
    const { page } = watched
    await page.locator('#findings h3', { hasText: 'Findings in manifests (3)' }).waitFor()
    const links: string[] = await page
      .locator('#findings a')
      .evaluateAll((found) => found.map((one) => one.href))
    expect(links.map((link) => link.replace(/.*[/](?=pipes)/, ''))).toEqual(
      [0, 1, 2].map((at) => `pipes/${at}.yaml#L28`),
    )
    await page.locator('#q').fill('p1')
    await page.locator('#findings h3', { hasText: 'Findings in manifests (1)' }).waitFor()
  })
})
