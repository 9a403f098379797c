import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { expect, test } from 'vitest'
import { parseNotifications } from '../../src/config/notification-settings.ts'
import { messageOf } from '../../src/notify/message.ts'
import { signedHeaders, webhookBody } from '../../src/notify/webhook.ts'
import { Secret } from '../../src/lib/secret.ts'
import { CONTEXT, item } from './given.ts'

/* What docs/notifications.md shows, works. The Python example is run by test/slow/notifications-python.test.ts. */

const PAGE = readFileSync(new URL('../../docs/notifications.md', import.meta.url), 'utf8')

function example(language: string): string {
  const text = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(PAGE)?.[1]
  if (text === undefined) throw new Error(`there is no example in ${language}`)
  return text
}

/** Names of the fields of a message, and of its first notification. */
function fields(message: Record<string, unknown>): readonly (readonly string[])[] {
  const [first = {}] = message['news'] as object[]
  return [Object.keys(message), Object.keys(first)]
}

type Verify = (key: string, headers: Readonly<Record<string, string>>, body: string) => boolean

test('the settings are right', () => {
  const { targets, problems } = parseNotifications('notifications.yaml', example('yaml'), '/s')
  expect(problems).toEqual([])
  expect(targets?.map(({ name }) => name)).toEqual(['on-call', 'payments'])
})

test('the example of a message has the fields of one', () => {
  const shown = JSON.parse(example('json')) as Record<string, unknown>
  const real = JSON.parse(
    webhookBody(messageOf([item({ labels: { team: 'payments' } })], { at: 1, most: 1 }), CONTEXT),
  ) as Record<string, unknown>
  expect(fields(shown)).toEqual(fields(real))
})

test.each(['a plain key', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])(
  'the example in Node verifies with %s',
  (key) => {
    const code = example('js')
      .replace(/^import .*$/m, '')
      .replace('export function', 'function')
    const verify = runInNewContext(`${code}\nisFromPipewright`, {
      Buffer,
      createHmac,
      timingSafeEqual,
      Date,
    }) as Verify
    const body = '{"sentence":"Grüße"}'
    const headers = signedHeaders({ id: 'm-1', body }, new Secret(key), Date.now())
    expect(verify(key, headers, body)).toBe(true)
    expect(verify(key, headers, `${body} `)).toBe(false)
    expect(verify(`${key}x`, headers, body)).toBe(key.startsWith('whsec_')) // base64 drops an odd character
    expect(verify(key, { ...headers, 'webhook-id': 'm-2' }, body)).toBe(false)
    const old = signedHeaders({ id: 'm-1', body }, new Secret(key), Date.now() - 400_000)
    expect(verify(key, old, body)).toBe(false)
  },
)
