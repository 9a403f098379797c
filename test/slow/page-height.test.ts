import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { ResourceView } from '../../src/contract/view.ts'
import type { Finding } from '../../src/kinds/finding.ts'
import { fakeParts, finding, overview, resource } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { openPage } from './page-browser.ts'

/* A page is read by somebody who is in a hurry: it is short, whatever is wrong. */

const CONDITION = { status: 'False', since: 0 } as const

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

const keys = (count: number) => Array.from({ length: count }, (_, index): Key => `Pipe/p${index}`)

describe('a page with much that is wrong', () => {
  test('has a line for each cause but the first, which opens, and stays open when the page is drawn again', async () => {
    const unknown = keys(9).map((key, index) =>
      resource(key, {
        status: 'OutcomeUnknown',
        reason: 'OutcomeUnknown',
        message: `Nobody knows ${index}.`,
      }),
    )
    const { url } = await running(fakeParts({}, unknown))
    await using watched = await openPage(url, { viewport: { width: 1440, height: 900 } })
    const { page } = watched
    await expect.poll(() => page.locator('#unwell > li').count()).toBe(9)
    await expect.poll(() => page.locator('#unwell > li details').count()).toBe(8)
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
