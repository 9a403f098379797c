import { masked } from '../support/masked.ts'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { conditionEntry } from '../support/events.ts'
import { condition, fakeParts, finding, overview, resource, REVISION } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { openPage, seriousFindings, sideways, tooWide } from './page-browser.ts'

/* On a phone everything is read from top to bottom: nothing scrolls sideways, however long a text or a word is. */

const PHONE = { viewport: { width: 390, height: 844 } }

const URL_OF_A_SCHEMA = `https://schema-registry.internal.example/subjects/${'orders-value-'.repeat(8)}latest`
const ID = '4af1717b-52aa-4b4b-aeab-b07a38d5e150'
const SENTENCE = `The platform refused it: ${'a source that cannot be reached, '.repeat(12)}see ${URL_OF_A_SCHEMA}.`

/** A pipe with a long text wherever there can be one. */
function wordyParts() {
  const key = 'Pipe/orders-of-the-warehouse-in-the-north-of-the-country-and-its-returns'
  const pipe = resource(key, {
    status: 'Drifted',
    reason: 'Drifted',
    pipeId: ID,
    message: SENTENCE,
    labels: { 'pipelines.example.com/owner': URL_OF_A_SCHEMA },
    conditions: {
      Valid: condition('True'),
      Synced: condition('False', { reason: 'Unavailable', facts: { said: SENTENCE } }),
      Ready: condition('Unknown', { reason: 'Rejected', facts: { said: URL_OF_A_SCHEMA } }),
    },
    differences: [{ field: 'source.kafka.schemaRegistry.url', desired: URL_OF_A_SCHEMA, observed: ID }],
    observed: { id: ID, source: { kafka: { topics: 'orders,'.repeat(40) } } },
  })
  const body = { name: 'orders', url: URL_OF_A_SCHEMA, caCertificate: 'x'.repeat(900) }
  const parts = fakeParts(
    {
      desired: () => ({ source: { kafka: { schemaRegistry: { url: URL_OF_A_SCHEMA } } } }),
      manifest: () => ({
        document: { kind: 'Pipe', policy: { suspend: { reason: SENTENCE } } },
        request: { operation: 'createPipe', method: 'POST', path: `/v1/services/${ID}/pipes`, body },
        needs: [key],
        neededBy: [key],
        neededByCount: 1,
      }),
      overview: () =>
        overview({
          findings: [finding({ key, lineText: `      url: ${URL_OF_A_SCHEMA}`, message: SENTENCE })],
          budgets: [
            {
              credential: 'analytics-of-the-warehouse',
              used: 3,
              limit: 10,
              windowMs: 10_000,
              waiting: 4,
              pausedForMs: 0,
            },
          ],
        }),
    },
    [pipe],
    [
      conditionEntry({
        status: 'False',
        reason: 'Drifted',
        key,
        revision: REVISION,
        requestId: ID,
        message: SENTENCE,
      }),
    ],
  )
  parts.tell({ type: 'Observed', key, state: masked('Running'), differences: [] })
  return { key, parts }
}

/** Names of resources in the list that end in an ellipsis. */
function cutKeys(page: Page): Promise<readonly string[]> {
  return page.evaluate(`[...document.querySelectorAll('.list .key')]
    .filter((one) => one.closest('.cut').scrollWidth > one.closest('.cut').clientWidth)
    .map((one) => one.textContent)`)
}

describe('at 390 pixels', () => {
  test('nothing scrolls sideways: not the page, and nothing in it', async () => {
    const { key, parts } = wordyParts()
    const { url } = await running(parts)
    await using watched = await openPage(url, PHONE)
    const { page, faults } = watched
    await page.locator('.list tbody tr').waitFor()
    await page.locator('#source table').waitFor()
    await page.locator('#findings pre').waitFor()
    expect(await sideways(page)).toEqual([])
    expect(await tooWide(page)).toEqual([])
    await expect
      .poll(() => page.locator('#filter .hint').isVisible(), { message: 'keys are no hint for a thumb' })
      .toBe(false)
    expect(await cutKeys(page)).toEqual([])

    await page.goto(`${url}/?resource=${key}`)
    await page.locator('#one tr.differs').waitFor()
    await page.locator('#request summary').click()
    expect(await sideways(page)).toEqual([])
    expect(await tooWide(page)).toEqual([])
    const told = page.locator('#one .entry-title')
    expect(
      await told.evaluate((one) => one.scrollWidth <= one.clientWidth),
      'its history is told in full',
    ).toBe(true)
    expect(await seriousFindings(page)).toEqual([])
    expect(faults()).toEqual([])
  })

  test('a condition is a block that says which line is what, and is still a table for who listens', async () => {
    const { key, parts } = wordyParts()
    const { url } = await running(parts)
    await using watched = await openPage(`${url}/?resource=${key}`, PHONE)
    const { page } = watched
    const synced = page.getByRole('table', { name: 'Conditions' }).getByRole('row', { name: 'Synced' })
    const message = synced.getByRole('cell').nth(3)
    await expect.poll(() => message.textContent()).toBe(SENTENCE)
    const title = await page.evaluate(
      "getComputedStyle(document.querySelectorAll('#one td')[3], '::before').content",
    )
    expect(title).toBe('"Message"')
    const box = await message.boundingBox()
    expect(box?.width).toBeGreaterThan(300)
  })
})

describe('the longest status', () => {
  const names = ['Pipe/checkout-payments-events', 'Pipe/orders']
  const resources = names.map((key) =>
    resource(key as Key, { status: 'OutcomeUnknown', reason: 'OutcomeUnknown' }),
  )

  test.each([1440, 1200, 390])('does not stand on the name, nor break it: %d pixels', async (width) => {
    const { url } = await running(fakeParts({}, resources))
    await using watched = await openPage(url, { viewport: { width, height: 900 } })
    const { page } = watched
    const row = page.locator('.list tbody tr').first()
    await row.waitFor()
    const badge = await row.locator('.badge').boundingBox()
    const name = await row.locator('.key').boundingBox()
    const isBeside = (badge?.x ?? 0) + (badge?.width ?? 0) <= (name?.x ?? 0)
    const isAbove = (badge?.y ?? 0) + (badge?.height ?? 0) <= (name?.y ?? 0)
    expect(isBeside || isAbove).toBe(true)
    expect(name?.height, 'one line').toBeLessThan(30)
  })
})
