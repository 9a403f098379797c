import { masked } from '../support/masked.ts'
import { describe, expect, test } from 'vitest'
import { actionEntry, conditionEntry } from '../support/events.ts'
import { condition, fakeParts, finding, limited, NOW, overview, resource } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { openPage, allFindings, tooWide } from './page-browser.ts'

/** Every tone of the page at once. */
function colourfulParts() {
  const unwell = {
    Valid: condition('True'),
    Synced: condition('False', { reason: 'Drifted' }),
    Ready: condition('Unknown'),
  }
  const resources = [
    resource('Pipe/unknown', { status: 'OutcomeUnknown', reason: 'OutcomeUnknown', conditions: unwell }),
    resource('Pipe/invalid', { status: 'Invalid', reason: 'InvalidManifest' }),
    resource('Pipe/drifted', {
      status: 'Drifted',
      reason: 'Drifted',
      conditions: unwell,
      differences: [{ field: 'scaling.replicas', desired: '2', observed: '3' }],
      observed: { name: 'drifted', scaling: { replicas: 3 }, state: 'Running' },
    }),
    ...Array.from({ length: 5 }, (_, index) =>
      resource(`Pipe/auth${index}`, { status: 'Failed', reason: 'AuthFailed' }),
    ),
    resource('Pipe/suspended', { status: 'Suspended', reason: 'Suspended' }),
    resource('Pipe/new', { status: 'Progressing', reason: 'Unobserved' }),
    ...Array.from({ length: 60 }, (_, index) =>
      resource(`Alert/a${index}`, { labels: { tier: 'gold', team: 'web' }, state: masked('OK') }),
    ),
  ]
  const parts = fakeParts(
    {
      desired: () => ({ name: 'drifted', scaling: { replicas: 2 } }),
      overview: () =>
        overview({
          sandbox: true,
          sourceProblem: 'it is empty',
          createLimit: limited('analytics'),
          findings: [finding({ key: 'Pipe/invalid' }), finding({ severity: 'warning' })],
          budgets: [
            { credential: 'api', used: 3, limit: 10, windowMs: 10_000, waiting: 4, pausedForMs: 3_000 },
          ],
          pauses: [{ service: 'analytics', since: NOW, message: 'refused' }],
        }),
    },
    resources,
    [
      conditionEntry({ status: 'False', reason: 'Drifted', key: 'Pipe/drifted', message: 'x' }),
      actionEntry({ result: 'unknown', key: 'Pipe/unknown', message: 'x' }),
      actionEntry({ key: 'Pipe/drifted', at: NOW - 1, message: 'x' }),
    ],
  )
  parts.tell({ type: 'Observed', key: 'Pipe/drifted', state: masked('Provisioning'), differences: [] })
  parts.tell({ type: 'Observed', key: 'Pipe/drifted', state: masked('Running'), differences: [] })
  return parts
}

const LOOKS = [
  ['light and wide', { colorScheme: 'light', viewport: { width: 1440, height: 900 } }],
  ['dark and wide', { colorScheme: 'dark', viewport: { width: 1440, height: 900 } }],
  ['light, on a phone', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
  ['dark, on a phone', { colorScheme: 'dark', viewport: { width: 360, height: 740 } }],
] as const

describe('for everybody', () => {
  test.each(LOOKS)(
    'no finding of axe-core, best practices included, and nothing beside the screen: %s',
    async (_, look) => {
      const { url } = await running(colourfulParts())
      await using watched = await openPage(url, look)
      const { page, faults } = watched
      await page.locator('#unwell > li').nth(4).waitFor()
      const row = page.locator('.list tbody tr', { hasText: 'Alert/a0' })
      await expect.poll(() => row.locator('.label').allTextContents()).toEqual(['web', 'tier=gold'])
      await expect.poll(() => row.locator('.owner').isVisible()).toBe(true)
      expect(await allFindings(page)).toEqual([])
      expect(await tooWide(page)).toEqual([])
      await page.goto(`${url}/?resource=Pipe/drifted`)
      await page.locator('#one tr.differs').waitFor()
      await page.locator('#states table').waitFor()
      expect(await allFindings(page)).toEqual([])
      expect(await tooWide(page)).toEqual([])
      expect(faults()).toEqual([])
    },
  )

  test('by keyboard alone: skip, filter, next page, open, back', async () => {
    const { url } = await running(colourfulParts())
    await using watched = await openPage(url)
    const { page } = watched
    const focused = () => page.evaluate('document.activeElement?.id || document.activeElement?.textContent')
    await page.keyboard.press('Tab')
    await expect.poll(() => focused()).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await expect.poll(() => focused()).toBe('main')
    await page.locator('#q').focus()
    await page.keyboard.type('alert')
    await page.locator('#matches', { hasText: '60 of 70 match' }).waitFor()
    await expect.poll(() => focused()).toBe('q')
    await page.locator('#next').focus()
    await page.keyboard.press('Space')
    await page.locator('#which-page', { hasText: 'Page 2 of 2' }).waitFor()
    await expect.poll(() => page.locator('.list tbody tr').count()).toBe(10)
    await page.locator('#list .key').first().focus()
    await page.keyboard.press('Enter')
    await page.locator('#one .facts').first().waitFor()
    await expect.poll(() => focused()).toBe('one-title')
    await page.locator('#back').focus()
    await page.keyboard.press('Enter')
    await page.locator('#which-page', { hasText: 'Page 2 of 2' }).waitFor()
  })
})
