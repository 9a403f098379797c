import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import axe from 'axe-core'
import { chromium, type BrowserContextOptions, type Page } from 'playwright-core'
import { fakeParts, resource } from '../server/fake-parts.ts'

/** Nothing that a browser does by itself, and nothing that needs a screen. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

/** Debian's own: nothing is downloaded. @throws when it is not installed; the message says what to install */
export function chromiumPath(): string {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'chromium')
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // not in this folder
    }
  }
  throw new Error(
    'there is no chromium on PATH: install the Debian package "chromium" (apt-get install chromium)',
  )
}

export function browserOptions() {
  return { executablePath: chromiumPath(), args: [...QUIET] }
}

/** On a machine however busy: ms. */
const LIMIT_MS = 120_000

/** A tab of its own, in the browser of all files where there is one. */
export async function openTab(options: BrowserContextOptions = {}) {
  const shared = process.env['TEST_BROWSER']
  const browser = await (shared === undefined ? chromium.launch(browserOptions()) : chromium.connect(shared))
  const page = await browser.newPage(options)
  page.setDefaultTimeout(LIMIT_MS)
  return { page, [Symbol.asyncDispose]: () => browser.close() }
}

/** A page, and what must not happen on it. */
export interface Watched extends AsyncDisposable {
  readonly page: Page
  /** Errors and warnings in the console, uncaught errors, and requests to anywhere but the server; empty when all is well. */
  readonly faults: () => readonly string[]
}

interface PageOptions {
  /** The server will go away: what the browser says of that is no fault. */
  readonly mayLose?: boolean
  /** A script that runs before those of the page. */
  readonly watch?: string
}

/** A tab of its own at `url`, live. */
export async function openPage(
  url: string,
  options: BrowserContextOptions & PageOptions = {},
): Promise<Watched> {
  const { mayLose = false, watch, ...contextOptions } = options
  const tab = await openTab(contextOptions)
  const { page } = tab
  if (watch !== undefined) await page.addInitScript(watch)
  const faults: string[] = []
  const { origin } = new URL(url)
  page.on('console', (message) => {
    const isFault = message.type() === 'error' || message.type() === 'warning'
    if (isFault && !(mayLose && message.text().includes('net::ERR_'))) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('dialog', (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const target = new URL(request.url())
    if (target.origin !== origin && target.protocol !== 'data:') faults.push(`a request to ${request.url()}`)
  })
  await page.goto(url)
  await page.locator('#connection.live').waitFor()
  return { ...tab, faults: () => faults }
}

/** What axe-core finds by any of its rules, best practices too, in words. */
export async function allFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(`axe.run().then(({ violations }) => violations
    .flatMap(({ id, help, nodes }) => nodes.map(({ html }) => id + ': ' + help + ': ' + html.slice(0, 200))))`)
}

/** What axe-core finds serious or critical, in words. The page's policy keeps scripts out; the debugger may bring one in. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(({ html }) => id + ': ' + help + ': ' + html.slice(0, 200))))`)
}

/** What makes the page wider than the screen, in words; empty when nothing does. */
export async function tooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate(`document.documentElement.scrollWidth <= innerWidth ? [] : [...document.body.querySelectorAll('*')]
    .filter((one) => one.getBoundingClientRect().right > innerWidth && one.closest('.scroll, pre') === null)
    .map((one) => one.tagName + '#' + one.id + '.' + one.className + ': ' + one.textContent.slice(0, 60))`)
}

/** What can be scrolled sideways, the page or an element of it, in words; empty when nothing can. */
export async function sideways(page: Page): Promise<readonly string[]> {
  return page.evaluate(`[...document.querySelectorAll('*')]
    .filter((one) => one === document.documentElement || /auto|scroll/.test(getComputedStyle(one).overflowX))
    .filter((one) => one.scrollWidth > one.clientWidth)
    .map((one) => one.tagName + '#' + one.id + '.' + one.className + ': ' + one.textContent.slice(0, 60))`)
}

/** Parts of a server with one resource, and the way to change what it says. */
export function partsThatSay(first: string) {
  let message = first
  const clicks = resource('Pipe/clicks', { status: 'Missing', reason: 'Missing' })
  const board = {
    get: () => clicks,
    list: () => [{ ...clicks, because: { reason: 'Rejected', facts: { said: message } } } as const],
    get version() {
      return message.length
    },
  }
  return {
    parts: fakeParts({ board }),
    say: (next: string) => {
      message = next
    },
  }
}
