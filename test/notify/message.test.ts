import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { Problem } from '../../src/contract/view.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createMessage, webhookHeaders } from '../../src/notify/message.ts'
import { keys, problem, SINCE } from './given.ts'

/* The messages of the webhook, and the page that describes them. */

const PAGE = readFileSync(new URL('../../docs/how-to/notifications.md', import.meta.url), 'utf8')

function example(language: string): string {
  const text = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(PAGE)?.[1]
  if (text === undefined) throw new Error(`there is no example in ${language}`)
  return text
}

type Context = Parameters<typeof createMessage>[2]
const CONTEXT: Context = {
  isSandbox: false,
  publicUrl: 'https://pipes.example',
  revision: '2c6ee85d',
  now: SINCE + 90_000,
  endedAt: SINCE + 90_000,
  words: 'scaling.replicas differs.',
}

function bodyOf(
  change: Parameters<typeof createMessage>[0],
  over: Partial<Problem> = {},
  context: Partial<Context> = {},
): Readonly<Record<string, unknown>> {
  return JSON.parse(
    createMessage(change, problem('orders', over), { ...CONTEXT, ...context }).body,
  ) as Record<string, unknown>
}

function idOf(change: Parameters<typeof createMessage>[0], over: Partial<Problem> = {}, now = 0): string {
  return createMessage(change, problem('orders', over), { ...CONTEXT, now }).id
}

describe('a message', () => {
  test('has a text and facts', () => {
    expect(bodyOf('began')).toEqual({
      type: 'problem.began',
      timestamp: '2026-06-01T12:01:30.000Z',
      text: `Warning: Pipe/orders: the platform reports other values, though the manifest did not change (Drifted). scaling.replicas differs.
https://pipes.example/?resource=Pipe/orders`,
      id: 'orders',
      problem: 'Drifted',
      severity: 'warning',
      service: 'analytics',
      keys: ['Pipe/orders'],
      resources: 1,
      since: '2026-06-01T12:00:00.000Z',
      revision: '2c6ee85d',
      url: 'https://pipes.example/?resource=Pipe/orders',
    })
  })

  test.each([
    ['of its end says how long it lasted', 'ended', {}, {}, /^Ended after 1m30s: Pipe\/orders: /],
    [
      'of many names three',
      'began',
      { keys: keys(5) },
      {},
      /^Warning: Pipe\/p0, Pipe\/p1, Pipe\/p2 and 2 more: /,
    ],
    ['of growth has the number', 'grew', { keys: keys(30) }, {}, / Now 30 resources\. /],
    ['of a critical problem says so', 'began', { severity: 'critical' }, {}, /^Critical: /],
    ['of the sandbox says so', 'began', {}, { isSandbox: true }, /^\[sandbox\] /],
    ['without a page has no link', 'began', {}, { publicUrl: undefined }, /differs\.$/],
    [
      'mentions no one in Slack',
      'began',
      {},
      { words: '<!channel> <@U1> & </a>' },
      /‹!channel› ‹@\u200BU1› & ‹\/a›/,
    ],
    ['mentions no one in Mattermost', 'began', {}, { words: 'hello @all' }, /hello @\u200Ball/],
    ['has one line of words', 'began', {}, { words: 'a\n\u001b[31mb\u0000' }, / a \[31mb /],
    ['has an end', 'began', {}, { words: 'x'.repeat(100_000) }, /^.{1,2200}\nhttps:[^\n]*$/],
  ] as const)('%s', (_, change, over, context, text) => {
    expect(bodyOf(change, over, context)['text']).toMatch(text)
  })

  test('names a hundred resources at most, and counts all', () => {
    const body = bodyOf('began', { keys: keys(10_000) })
    expect(body).toMatchObject({ resources: 10_000, url: 'https://pipes.example/' })
    expect(body['keys']).toHaveLength(100)
  })

  test('has the same id when it is made again, and another one after each change', () => {
    expect(idOf('began', {}, 1)).toBe(idOf('began', { keys: keys(4) }, 2))
    const ids = [
      idOf('began'),
      idOf('began', { state: 'other' }),
      idOf('began', { id: 'other' }),
      idOf('grew', { keys: keys(10) }),
      idOf('grew', { keys: keys(100) }),
      idOf('ended'),
    ]
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^msg_[0-9a-f]{32}$/)
  })

  test('is as the page shows it', () => {
    const shown = JSON.parse(example('json')) as object
    expect(Object.keys(shown)).toEqual(Object.keys(bodyOf('began')))
  })
})

describe('the signature', () => {
  test('of a plain key is that of Standard Webhooks', () => {
    const message = { id: 'm-1', body: '{"text":"Grüße"}' }
    const headers = webhookHeaders(message, new Secret('plain key'), 1_700_000_000_999)
    const signed = createHmac('sha256', 'plain key')
      .update('m-1.1700000000.{"text":"Grüße"}')
      .digest('base64')
    expect(headers).toEqual({
      'webhook-id': 'm-1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': `v1,${signed}`,
    })
  })

  test('matches the example of the specification', () => {
    const secret = new Secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
    expect(webhookHeaders(message, secret, 1_614_265_330_000)['webhook-signature']).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    )
  })

  test('is not there without a secret', () => {
    expect(webhookHeaders({ id: 'm-1', body: '{}' }, undefined, 1_000)).not.toHaveProperty(
      'webhook-signature',
    )
  })

  test.each(['a plain key', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])(
    'is verified by the page: %s',
    (key) => {
      const code = example('js')
        .replace(/^import .*$/m, '')
        .replace('export function', 'function')
      const world = { Buffer, createHmac, timingSafeEqual, Date }
      const verify = runInNewContext(`${code}\nisFromPipewright`, world) as (
        key: string,
        headers: Readonly<Record<string, string>>,
        body: string,
      ) => boolean
      const body = '{"text":"Grüße"}'
      const headers = webhookHeaders({ id: 'm-1', body }, new Secret(key), Date.now())
      expect(verify(key, headers, body)).toBe(true)
      expect(verify(key, headers, `${body} `)).toBe(false)
      expect(verify(key, { ...headers, 'webhook-id': 'm-2' }, body)).toBe(false)
      const old = webhookHeaders({ id: 'm-1', body }, new Secret(key), Date.now() - 400_000)
      expect(verify(key, old, body)).toBe(false)
    },
  )
})
