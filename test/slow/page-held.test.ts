import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { running } from '../server/running.ts'
import { passes } from '../kubernetes/pods.ts'
import { until } from '../support/until.ts'
import { partsThatSay, openTab } from './page-browser.ts'

/** What the page does behind a proxy that passes the head of the stream of events on, and gathers what is in it. */

/** In front of a server; holds back what is in the stream of events. */
async function proxyBefore(port: number) {
  let opened = 0
  const answering = new Set<unknown>()
  const proxy = createServer((asked, answer) => {
    const { url: path, method, headers } = asked
    const passed = request({ host: '127.0.0.1', port, path, method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers)
      answer.flushHeaders()
      if (path === '/api/v1/events') opened += 1
      else reply.pipe(answer)
    })
    if (path !== '/api/v1/events') answering.add(answer)
    answer.on('close', () => answering.delete(answer))
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, // it listens on TCP
    opened: () => opened,
    isAnswering: () => answering.size > 0,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}

/** What it says of its connection as time goes by, which does not while an answer is on its way: a machine may be busy. */
async function saidWhile(
  page: Page,
  milliseconds: number,
  isAnswering: () => boolean,
): Promise<readonly string[]> {
  const said: string[] = []
  for (let passed = 0; passed < milliseconds; passed += 2_500) {
    await page.clock.fastForward(2_500)
    await passes(100)
    await until('an answer', () => !isAnswering())
    await passes(50)
    said.push((await page.locator('#connection').textContent()) ?? '')
  }
  return said
}

test('a stream of which only the head arrives is not live, and the connection is not lost', async () => {
  const { parts, say } = partsThatSay('gone')
  const { port } = await running(parts)
  await using proxy = await proxyBefore(port)
  await using tab = await openTab()
  const { page } = tab
  await page.clock.install()
  await page.goto(proxy.url)
  await page.locator('#list', { hasText: 'gone' }).waitFor()
  const said = await saidWhile(page, 120_000, proxy.isAnswering)
  expect(new Set(said)).toEqual(new Set(['connecting…', 'no live updates: refreshed every 30 s']))
  expect(said.at(-1)).toContain('no live updates')
  expect(proxy.opened()).toBeGreaterThan(2)
  say('gone since yesterday')
  const refreshed = page.locator('#list', { hasText: 'gone since yesterday' })
  await expect
    .poll(async () => {
      await page.clock.fastForward(2_500)
      return refreshed.count()
    })
    .toBe(1)
})
