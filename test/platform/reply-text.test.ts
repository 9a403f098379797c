import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { replyText } from '../../src/platform/http-exchange.ts'
import { envelope, failure, PIPE, facing, sendCreate } from './support/platform.ts'

const DONE = envelope({ id: PIPE, name: 'orders', state: 'Läuft €' })
const BYTES = Buffer.from(DONE)

const CODED = [
  ['gzip', { 'content-encoding': 'gzip' }, gzipSync(BYTES)],
  ['x-gzip in capitals', { 'content-encoding': 'X-GZIP' }, gzipSync(BYTES)],
  ['deflate', { 'content-encoding': 'deflate' }, deflateSync(BYTES)],
  ['gzip without a header', {}, gzipSync(BYTES)],
  ['gzip, named as another coding', { 'content-encoding': 'br' }, gzipSync(BYTES)],
  ['gzip twice, named once', { 'content-encoding': 'gzip' }, gzipSync(gzipSync(BYTES))],
  ['two codings, of which one was made', { 'content-encoding': 'gzip, br' }, gzipSync(BYTES)],
  ['two codings', { 'content-encoding': 'deflate, gzip' }, gzipSync(deflateSync(BYTES))],
  ['identity', { 'content-encoding': 'identity' }, BYTES],
  ['a byte order mark', {}, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), BYTES])],
  ['UTF-8 whatever its charset', { 'content-type': 'application/json; charset=ISO-8859-1' }, BYTES],
  ['an unknown charset', { 'content-type': 'application/json; charset=utf-9' }, BYTES],
] as const

describe('a body is read', () => {
  test.each(CODED)('in %s', (_, headers, bytes) => {
    expect(replyText(bytes, headers, DONE.length * 2)).toBe(DONE)
  })

  test.each(['gzip', 'deflate'])('as %s that is none, and as an empty one', (coding) => {
    expect(replyText(BYTES, { 'content-encoding': coding }, 1_000)).toBe(DONE)
    expect(replyText(Buffer.alloc(0), { 'content-encoding': coding }, 1_000)).toBe('')
  })

  test('in two layers of gzip that no header names, and not in three', () => {
    const twice = gzipSync(gzipSync(BYTES))
    expect([twice, gzipSync(twice)].map((bytes) => replyText(bytes, {}, 1_000) === DONE)).toEqual([
      true,
      false,
    ])
  })

  test('as far as it came, where it was cut', () => {
    const cut = gzipSync(Buffer.from(DONE.padEnd(5_000))).subarray(0, -9)
    expect(replyText(cut, { 'content-encoding': 'gzip' }, 10_000)).toContain(PIPE)
  })
})

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
] as const)('a short body in %s that is large after decoding is too large', (coding, compress) => {
  const bytes = compress(Buffer.alloc(100_000))
  expect(replyText(bytes, { 'content-encoding': coding }, 99_999)).toBeUndefined()
  expect(replyText(bytes, { 'content-encoding': coding }, 100_000)).toHaveLength(100_000)
})

test('a create asks for no coding, and reads the id from a compressed reply', async () => {
  await using p = await facing((response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(BYTES)),
  )
  expect(await sendCreate(p)).toMatchObject({ value: { id: PIPE } })
  expect(p.server.requests[0]?.headers).toMatchObject({ 'accept-encoding': 'identity' })
})

test.each([
  [401, 'AuthFailed', 'no'],
  [200, 'BadReply', ''],
] as const)('a compressed reply with %i is classified as %s', async (status, kind, error) => {
  const text = status === 200 ? ' '.repeat(5_000_000) : JSON.stringify({ status, requestId: PIPE, error })
  await using p = await facing((response) =>
    response.writeHead(status, { 'content-encoding': 'gzip' }).end(gzipSync(text)),
  )
  const { facts } = await failure(sendCreate(p))
  expect(facts).toMatchObject({ class: kind, effect: status === 200 ? 'unknown' : 'none' })
})
