import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ALERT, alertManifest, mountSecrets, runArgs } from '../support/manifests.ts'
import { startProgram, urlOf, type Program } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'
import { openPage, startBrowser } from './page-browser.ts'
import { startPlatform } from '../support/platform.ts'

const MANY = 10_000

/** What is asked for (issue 5), and how much more a busy machine may take before it counts as broken. */
const LOAD_MS = 1_000
const FILTER_MS = 100
const CPU_SHARE = 0.02
const GENEROUS = 5

/** Notes when the page shows what is wrong and a list that answers, in ms since it was asked for. */
const USABLE = `new MutationObserver((_, watcher) => {
  if (document.querySelector('.list tbody tr:nth-child(50)') === null || document.querySelector('#unwell > li') === null) return
  watcher.disconnect()
  requestAnimationFrame(() => { globalThis.usableAt = performance.now() })
}).observe(document, { childList: true, subtree: true })`

/** How long the daemon is watched with and without an open page. */
const WATCHED_MS = 10_000

/** Clock ticks of a process: 100 a second on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

let browser: Browser

beforeAll(async () => {
  browser = await startBrowser()
})

afterAll(async () => {
  await browser.close()
})

describe('ten thousand resources', () => {
  test('load, filter and stay open at little cost', { timeout: 900_000 }, async () => {
    await using stack = new AsyncDisposableStack()
    const workspace = stack.use(createWorkspace())
    const ids = Array.from({ length: MANY }, (_, index) => `alert-${index}`)
    const alerts = ids.map((id, index) => ({ ...ALERT, id, state: index % 500 === 0 ? 'ALERT' : 'OK' }))
    const platform = stack.use(await startPlatform({ fixture: { alerts } }))
    mountSecrets(workspace)
    for (let file = 0; file < 100; file += 1) {
      const documents = ids.slice(file * 100, file * 100 + 100).map((id, index) => labelled(id, index))
      workspace.write(`manifests/team-${file}/alerts.yaml`, documents.join('---\n'))
    }
    const memory = stack.adopt(mkdtempSync('/dev/shm/pipewright-many-'), (folder) =>
      rmSync(folder, { recursive: true, force: true }),
    )
    // The first word about each of so many is ten thousand durable writes, which are not what is looked at here.
    const ledger = ['--ledger', `sqlite:${join(memory, 'ledger.db')}`]
    const args = runArgs(workspace, platform.url, ['--interval', '2h', '--api-budget', '5000/1s', ...ledger])
    const program = stack.use(startProgram(args))
    const url = await urlOf(program)
    await until('all to have been reconciled', () => settled(url), 600_000)

    const alone = await cpuShare(program)
    await using watched = await openPage(browser, url, { watch: USABLE })
    const { page, faults } = watched
    await page.locator('.list tbody tr').nth(49).waitFor()
    await page.locator('#unwell > li').first().waitFor()
    const loadMs: number = await page.evaluate('usableAt')
    expect(await page.locator('h1').first().textContent()).toBe('20 of 10000 resources need attention.')
    expect(await page.locator('#which-page').textContent()).toBe('Page 1 of 200')
    // twenty alerts that fire are one trouble, not twenty cards
    expect(await page.locator('#unwell > li').count()).toBe(1)

    const filterMs: number[] = []
    for (const text of ['alert-77', 'alert-7777', 'payments', 'state is ALERT', 'team-42'])
      filterMs.push(await timeOfFilter(page, text))
    await page.locator('#q').fill('')
    await page.locator('#matches', { hasText: '10000 in all' }).waitFor()
    await page.locator('#label').selectOption('team=payments')
    await page.locator('#matches', { hasText: '2500 of 10000 match' }).waitFor()

    const open = await cpuShare(program)
    const cost = open - alone
    report({ loadMs, filterMs, alone, open })
    expect(loadMs).toBeLessThan(LOAD_MS * GENEROUS)
    expect(median(filterMs)).toBeLessThan(FILTER_MS * GENEROUS)
    expect(cost).toBeLessThan(CPU_SHARE * GENEROUS)
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

/** From the last letter to the rows on the screen, in ms, by the page's own clock. */
async function timeOfFilter(page: Page, text: string): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const list = document.getElementById('list')
    const field = document.getElementById('q')
    const began = performance.now()
    const watcher = new MutationObserver(() => {
      watcher.disconnect()
      requestAnimationFrame(() => resolve(performance.now() - began))
    })
    watcher.observe(list, { childList: true })
    field.value = ${JSON.stringify(text)}
    field.dispatchEvent(new Event('input', { bubbles: true }))
  })`)
}

/** One hiccup of a busy machine says nothing. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Infinity
}

/** The share of one core that a process uses for a while. */
async function cpuShare(program: Program): Promise<number> {
  const before = ticksOf(program.pid)
  const began = performance.now()
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS))
  const seconds = (performance.now() - began) / 1_000
  return (ticksOf(program.pid) - before) / TICKS_PER_SECOND / seconds
}

/** `utime` and `stime`: the 14th and 15th field, counted behind the name in brackets. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

function report(measured: {
  readonly loadMs: number
  readonly filterMs: readonly number[]
  readonly alone: number
  readonly open: number
}): void {
  process.stdout.write(
    `10,000 resources: load ${Math.round(measured.loadMs)} ms; filters ${measured.filterMs.map((ms) => Math.round(ms)).join(', ')} ms; ` +
      `daemon alone ${percent(measured.alone)}, with an open page ${percent(measured.open)}\n`,
  )
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
