import { type BrowserServer, chromium } from 'playwright-core'
import { browserOptions } from '../page-browser.ts'

let server: BrowserServer | undefined

/** One browser for all files of the project: its start costs more than most of their tests. TEST_BROWSER is where it listens. */
export async function setup(): Promise<void> {
  server = await chromium.launchServer(browserOptions())
  process.env['TEST_BROWSER'] = server.wsEndpoint()
}

export async function teardown(): Promise<void> {
  await server?.close()
}
