import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { ALERT, alertManifest, mountSecrets, runArgs } from '../support/manifests.ts'
import { startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'
import { openPage } from './page-browser.ts'
import { startPlatform } from '../support/platform.ts'

const MANY = 2_000

/** The most that the page may ask for: requests and bytes while it is loaded, bytes of a refresh. One that grows with the resources has more. */
const MOST = { requests: 40, bytes: 400_000, listBytes: 130_000 }

/** What the page has asked for so far. */
const ASKED =
  "performance.getEntriesByType('resource').map(({ name, encodedBodySize }) => ({ name, bytes: encodedBodySize }))"

/** Longer than the page lets pass between two requests: ms. */
const WATCHED_MS = 7_000

describe('thousands of resources', () => {
  test('a page of them is loaded, each filter asks for one page, and nothing is asked for while nothing changes', async () => {
    await using stack = new AsyncDisposableStack()
    const workspace = stack.use(createWorkspace())
    const ids = Array.from({ length: MANY }, (_, index) => `alert-${index}`)
    const alerts = ids.map((id, index) => ({ ...ALERT, id, state: index % 500 === 0 ? 'ALERT' : 'OK' }))
    const platform = stack.use(await startPlatform({ fixture: { alerts } }))
    mountSecrets(workspace)
    for (let file = 0; file < MANY / 100; file += 1) {
      const documents = ids.slice(file * 100, file * 100 + 100).map((id, index) => labelled(id, index))
      workspace.write(`manifests/team-${file}/alerts.yaml`, documents.join('---\n'))
    }
    const memory = stack.adopt(mkdtempSync('/dev/shm/pipewright-many-'), (folder) =>
      rmSync(folder, { recursive: true, force: true }),
    )
    // The first word about each of so many is thousands of durable writes, which are not what is looked at here.
    const ledger = ['--ledger', `sqlite:${join(memory, 'ledger.db')}`]
    const args = runArgs(workspace, platform.url, ['--interval', '2h', '--api-budget', '5000/1s', ...ledger])
    const program = stack.use(startProgram(args))
    const url = await urlOf(program)
    await until('all to have been reconciled', () => settled(url), 600_000)

    await using watched = await openPage(url)
    const { page, faults } = watched
    await page.locator('.list tbody tr').nth(49).waitFor()
    await page.locator('#unwell > li').first().waitFor()
    const loaded = await asked(page)
    process.stdout.write(`${MANY} resources: ${loaded.length} requests, ${sum(loaded)} bytes\n`)
    expect(loaded.length).toBeLessThanOrEqual(MOST.requests)
    expect(sum(loaded)).toBeLessThanOrEqual(MOST.bytes)
    await expect.poll(() => page.locator('.list tbody tr').count()).toBe(50)
    await expect
      .poll(() => page.locator('h1').first().textContent())
      .toBe('4 of 2000 resources need attention.')
    await expect.poll(() => page.locator('#which-page').textContent()).toBe('Page 1 of 40')
    // four alerts that fire are one trouble, not four cards
    await expect.poll(() => page.locator('#unwell > li').count()).toBe(1)

    for (const [text, count] of [
      ['alert-77', 11],
      ['alert-1777', 1],
      ['payments', 500],
      ['state is ALERT', 4],
      ['team-12', 100],
    ] as const) {
      const before = (await asked(page)).filter(isList).length
      await page.locator('#q').fill(text)
      await page.locator('#matches', { hasText: `${count} of 2000 match` }).waitFor()
      const lists = (await asked(page)).filter(isList).slice(before)
      expect(Math.max(...lists.map(({ bytes }) => bytes)), text).toBeLessThanOrEqual(MOST.listBytes)
    }
    await page.locator('#q').fill('')
    await page.locator('#matches', { hasText: '2000 in all' }).waitFor()
    await page.locator('#label').selectOption('team=payments')
    await page.locator('#matches', { hasText: '500 of 2000 match' }).waitFor()

    await until('nothing to be asked for', async () => {
      const before = await asked(page)
      await new Promise((resolve) => setTimeout(resolve, WATCHED_MS))
      return (await asked(page)).length === before.length
    })
    expect(faults()).toEqual([])
  })
})

function labelled(id: string, index: number): string {
  const team = ['payments', 'growth', 'logistics', 'platform'][index % 4]
  return alertManifest(id, id)
    .replace(`metadata: {name: ${id}}`, `metadata: {name: ${id}, labels: {team: ${team}}}`)
    .concat('policy: {healthyStates: [OK]}\n')
}

async function settled(url: string): Promise<boolean> {
  const reply = await fetch(`${url}/api/v1/overview`)
  const { counts } = (await reply.json()) as { readonly counts: Readonly<Record<string, number>> } // of our API
  return counts['Progressing'] === 0 && (counts['Ready'] ?? 0) + (counts['NotReady'] ?? 0) === MANY
}

interface Asked {
  readonly name: string
  readonly bytes: number
}

async function asked(page: Page): Promise<readonly Asked[]> {
  return page.evaluate(ASKED)
}

function isList({ name }: Asked): boolean {
  return new URL(name).pathname === '/api/v1/page'
}

function sum(all: readonly Asked[]): number {
  return all.reduce((bytes, one) => bytes + one.bytes, 0)
}
