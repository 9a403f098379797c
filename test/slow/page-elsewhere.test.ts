import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { httpServer, type TestServer } from '../platform/support/server.ts'
import { fakeParts, resource } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { chromiumPath } from './page-browser.ts'

/* What a page from elsewhere gets, in a real browser: nothing. */

let browser: Browser
let elsewhere: TestServer

beforeAll(async () => {
  // Their names lead here, as the DNS of somebody else says.
  const resolver = '--host-resolver-rules=MAP evil.test 127.0.0.1, MAP other.test 127.0.0.1'
  browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-gpu', resolver],
  })
  elsewhere = await httpServer((reply) =>
    reply.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>elsewhere</title>'),
  )
})

afterAll(async () => {
  await browser.close()
  await elsewhere[Symbol.asyncDispose]()
})

/** What a script can read of an address, and whether an event stream of it opens. */
async function readable(page: Page, url: string) {
  return page.evaluate(async (target) => {
    const read = (init: RequestInit) =>
      fetch(target, init).then(
        async (reply) => `${reply.status} ${(await reply.text()).slice(0, 2_000)}`,
        () => 'refused',
      )
    const stream = new Promise<string>((resolve) => {
      const source = new EventSource(target.replace('overview', 'events'))
      source.addEventListener('open', () => resolve('open'))
      source.addEventListener('error', () => resolve('refused'))
    })
    return { plain: await read({}), opaque: await read({ mode: 'no-cors' }), stream: await stream }
  }, url)
}

function start() {
  const parts = fakeParts({}, [resource('Pipe/planted-name')])
  return running(parts)
}

test('a page of another origin reads nothing and opens no stream', async () => {
  const server = await start()
  const { port } = new URL(elsewhere.url)
  for (const host of ['other.test', '127.0.0.1']) {
    const page = await browser.newPage()
    await page.goto(`http://${host}:${port}/`)
    const got = await readable(page, `${server.url}/api/v1/overview`)
    expect(got).toMatchObject({ plain: 'refused', stream: 'refused' })
    expect(got.opaque).not.toMatch(/planted|version|revision/)
    await page.close()
  }
})

test('a page whose name was led here (DNS rebinding) reads nothing but that it is refused', async () => {
  const server = await start()
  const own = `http://evil.test:${server.port}`
  const page = await browser.newPage()
  // Whatever is answered there has the origin of that name, as the attacker's own page has.
  await page.goto(`${own}/healthz`)
  for (const path of [
    '/api/v1/overview',
    '/api/v1/resources',
    '/api/v1/history',
    '/metrics',
    '/healthz',
    '/',
  ]) {
    const { plain, opaque, stream } = await readable(page, `${own}${path}`)
    expect([path, plain.slice(0, 4), opaque.slice(0, 4), stream]).toEqual([path, '421 ', '421 ', 'refused'])
  }
  await page.close()
})

test('nor from metrics on a listener of their own, where programs may ask by any name', async () => {
  const server = await running({ ...fakeParts(), metricsListen: { host: '127.0.0.1', port: 0 } })
  const { port } = new URL(server.metricsUrl ?? '')
  const own = `http://evil.test:${port}`
  const page = await browser.newPage()
  await page.goto(`${own}/healthz`)
  const got = await page.evaluate(async (target) => {
    const read = (headers: Record<string, string>) =>
      fetch(target, { headers }).then(
        async (reply) => `${reply.status} ${await reply.text()}`,
        () => 'refused',
      )
    return [await read({}), await read({ 'accept-language': '', 'user-agent': 'Prometheus/3.0' })]
  }, `${own}/metrics`)
  expect(got).toEqual([expect.stringMatching(/^421 /), expect.stringMatching(/^421 /)])
  await page.close()
})

test('the page itself reads everything, and a link to it from elsewhere opens it', async () => {
  const server = await start()
  const { port } = new URL(elsewhere.url)
  const page = await browser.newPage()
  await page.goto(`http://other.test:${port}/`)
  await page.evaluate(`location.href = '${server.url}/'`)
  await page.locator('#connection.live').waitFor()
  expect(await readable(page, `${server.url}/api/v1/overview`)).toMatchObject({
    plain: expect.stringMatching(/^200 \{/),
    stream: 'open',
  })
  await page.close()
})
