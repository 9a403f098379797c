import * as fc from 'fast-check'
import { cpuMsOf } from '../support/cpu.ts'
import { expect, test } from 'vitest'
import { sensitiveTexts } from '../../src/kinds/mask.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { excerptOf } from '../../src/lib/excerpt.ts'
import { retryAfterMs } from '../../src/lib/retry.ts'
import { baseOf, pathOf } from '../../src/platform/wire.ts'

const NOW = Date.UTC(2026, 0, 31, 12, 0, 0)
const IN_A_MINUTE = new Date(NOW + 60_000).toUTCString()

test.each(
  Object.entries({
    seconds: { headers: { 'retry-after': '120' }, ms: 120_000 },
    'a date': { headers: { 'retry-after': IN_A_MINUTE }, ms: 60_000 },
    'Retry-After wins': { headers: { 'retry-after': '5', 'x-ratelimit-reset': '9' }, ms: 5_000 },
    'a Retry-After that says nothing does not': {
      headers: { 'retry-after': 'soon', 'x-ratelimit-reset': '9' },
      ms: 9_000,
    },
    'nor one of 0': { headers: { 'retry-after': '0', 'x-ratelimit-reset': '9' }, ms: 9_000 },
    'seconds from now': { headers: { 'x-ratelimit-reset': '9' }, ms: 9_000 },
    'Unix seconds': { headers: { 'x-ratelimit-reset': String(NOW / 1_000 + 30) }, ms: 30_000 },
    'Unix milliseconds': { headers: { 'x-ratelimit-reset': String(NOW + 40) }, ms: 40 },
    'a time that has passed says nothing': {
      headers: { 'x-ratelimit-reset': String(NOW / 1_000 - 30) },
      ms: undefined,
    },
    'a negative number says nothing': { headers: { 'retry-after': '-5' }, ms: undefined },
    'never more than 15 minutes': { headers: { 'retry-after': '86400' }, ms: 900_000 },
    'a header given twice': { headers: { 'retry-after': ['3', '4'] }, ms: 3_000 },
    nothing: { headers: {}, ms: undefined },
  }),
)('how long to wait: %s', (_why, { headers, ms }) => {
  expect(retryAfterMs(headers, NOW)).toBe(ms)
})

const SECRET = 'hunter2-correct-horse'

test.each(
  Object.entries({
    'a message is taken out of its JSON': {
      body: '{"error":{"message":"no such topic"}}',
      shown: 'no such topic',
    },
    'JSON without a message is shown as it is': { body: '{ "code": 7 }', shown: '{"code":7}' },
    'an HTML page shows its title': {
      body: '<!doctype html><title>Sign in</title>',
      shown: 'an HTML page titled “Sign in”',
    },
    'control characters and lines go': { body: 'a\u001b[31m\r\n\tb\u202ec', shown: 'a [31m b c' },
    'a secret is masked': { body: `bad ${SECRET}.`, shown: 'bad [secret].' },
    'inside a URL too': { body: 'GET /?p=a%26b%2Fc-and-more', shown: 'GET /?p=[secret]' },
    'and inside JSON': { body: '{"sent":"line one\\nline two"}', shown: '{"sent":"[secret]"}' },
    'a secret that reads like a word, as a word': { body: 'a domain of main', shown: 'a domain of [secret]' },
    'nothing of a secret with fewer than four characters': {
      body: 'user bob failed',
      shown: 'user bob failed',
    },
    'credentials in a URL, whoever put them there': {
      body: 'postgres://u:p@db',
      shown: 'postgres://[secret]@db',
    },
  }),
)('what is shown of a reply: %s', (_why, { body, shown }) => {
  expect(
    excerptOf(body, createSecretMask([SECRET, 'a&b/c-and-more', 'line one\nline two', 'bob', 'main'])),
  ).toBe(shown)
})

test('an excerpt is one line of 2 KB without a secret, whatever surrounds it', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string({ minLength: 4, maxLength: 40 }),
      fc.string({ maxLength: 3_000 }),
      fc.boolean(),
      (a, s, b, inJson) => {
        // a plain word is masked as a word only
        fc.pre(!/^[a-z]{1,16}\d{0,4}$/i.test(s) && !'[secret][secret]//[secret]@'.includes(s))
        const text = `${a}${s}${b}`
        const shown = excerptOf(
          inJson ? JSON.stringify({ error: text, more: 1 }) : text,
          createSecretMask([s]),
        )
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(2_048)
        expect(shown).not.toMatch(/\p{Cc}/u)
        expect(shown).not.toContain(s)
      },
    ),
  )
})

test.each(Array.from({ length: 40 }, (_, at) => 2_048 - 30 + at))(
  'a secret that begins at character %s of a reply is masked before the text is cut',
  (at) => {
    const shown = excerptOf(`${'é '.repeat(at / 3)}${SECRET} and more`.slice(0), createSecretMask([SECRET]))
    for (let i = 0; i + 3 <= SECRET.length; i += 1) expect(shown).not.toContain(SECRET.slice(i, i + 3))
  },
)

test('a reply of any size costs about what a small one does', () => {
  const secrets = Array.from({ length: 30 }, (_, at) => `k${at}Hq7kV2xe9Lm4`.repeat(30))
  const mask = createSecretMask(secrets)
  const small = JSON.stringify({ error: 'x9Kq2 m4Lp7 '.repeat(1_500) })
  const large = JSON.stringify({ error: 'x9Kq2 m4Lp7 '.repeat(300_000) })
  const parsed = cpuMsOf(() => JSON.parse(large))
  const floor = cpuMsOf(() => excerptOf(small, mask)) + parsed + 100
  expect(cpuMsOf(() => excerptOf(large, mask))).toBeLessThan(10 * floor)
})

test('sensitive texts of a body are found wherever they stand', () => {
  const body = {
    source: { kafka: { credentials: { username: 'admin', password: 'p' }, caCertificate: 'c', topics: 't' } },
  }
  expect(sensitiveTexts(body)).toEqual(['p', 'c'])
})

test.each([
  ['a plain name is none', 'admin', []],
  ['a generated name is', 'AKIA4XQ7LM2PZ', ['AKIA4XQ7LM2PZ']],
])('a user name in a body: %s', (_why, username, texts) => {
  expect(sensitiveTexts({ credentials: { username } })).toEqual(texts)
})

test('an id is one segment of a path, and nothing else', () => {
  expect(pathOf('/a/{id}/b', { id: 'x/../y?z#ü' })).toBe('/a/x%2F..%2Fy%3Fz%23%C3%BC/b')
  expect(pathOf('/a/{id}', { id: 'ABCDEFAB-CDEF-4ABC-8DEF-ABCDEFABCDEF' })).toBe(
    '/a/abcdefab-cdef-4abc-8def-abcdefabcdef',
  )
  expect(pathOf('/a/{id}', { id: 'Not-a-UUID' })).toBe('/a/Not-a-UUID')
  for (const id of ['', '.', '..']) expect(() => pathOf('/a/{id}', { id })).toThrow('not sent')
})

test('a base URL may have a path, and slashes at its end', () => {
  expect(baseOf('https://u:p@h.example:8443/api/x//?q=1')).toEqual({
    origin: 'https://h.example:8443',
    path: '/api/x',
  })
})

test.each([
  [256 * 1024, 'xxxx'],
  [256 * 1024 + 1, 'a text of 262145 characters'],
  [1024 * 1024 + 1, 'a text of 1048577 characters'],
])('of a reply of %i characters the excerpt begins with %s', (length, begin) => {
  const shown = excerptOf('x'.repeat(length), createSecretMask([SECRET]))
  expect(shown.slice(0, begin.length)).toBe(begin)
})

test.each(['<title', '<title ', '<title>', '</title', '//', '&', '?password='])(
  'an error page that repeats %s costs no more than its length',
  (part) => {
    const page = `<html>${part.repeat(500_000 / part.length)}`
    expect(cpuMsOf(() => excerptOf(page, createSecretMask()))).toBeLessThan(2_000)
  },
)
