import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'
import type { ReplyHeaders } from '../lib/retry-after.ts'

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush } = constants

/** RFC 9110, 8.4.1. A cut body gives the received part. */
const DECODERS: Readonly<Record<string, (bytes: Buffer, maxOutputLength: number) => Buffer>> = {
  gzip: (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength, finishFlush: Z_SYNC_FLUSH }),
  deflate: (bytes, maxOutputLength) => {
    const inflate = isZlib(bytes) ? inflateSync : inflateRawSync
    return inflate(bytes, { maxOutputLength, finishFlush: Z_SYNC_FLUSH })
  },
  br: (bytes, maxOutputLength) =>
    brotliDecompressSync(bytes, { maxOutputLength, finishFlush: BROTLI_OPERATION_FLUSH }),
  zstd: (bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength, finishFlush: ZSTD_e_flush }),
}

/** Layers of gzip that no header names. */
const MAX_UNNAMED = 2

/**
 * Without content codings, charset and byte order mark. An unknown coding or charset leaves the text
 * unreadable.
 * @returns undefined: more than `maxBytes` after decoding
 */
export function replyText(bytes: Buffer, headers: ReplyHeaders, maxBytes: number): string | undefined {
  let decoded = bytes
  const named = listOf(headers['content-encoding']).toReversed()
  for (let at = 0; at < named.length + MAX_UNNAMED; at += 1) {
    const coding = named[at] ?? (isGzip(decoded) ? 'gzip' : '')
    try {
      decoded = DECODERS[coding.replace(/^x-/, '')]?.(decoded, maxBytes) ?? decoded
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    }
  }
  return textOf(decoded, headers)
}

/** No text begins with these bytes. Some proxies compress twice, or drop the header. */
function isGzip(bytes: Buffer): boolean {
  return bytes.toString('hex', 0, 2) === '1f8b'
}

function listOf(header: string | readonly string[] | undefined): readonly string[] {
  return [header ?? ''].flat().flatMap((value) =>
    value
      .toLowerCase()
      .split(',')
      .map((item) => item.trim()),
  )
}

/** Some servers omit the header of zlib (RFC 1950, 2.2). */
function isZlib(bytes: Buffer): boolean {
  return bytes.length >= 2 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0
}

/** JSON is UTF-8 (RFC 8259, 8.1), whatever charset is named. */
function textOf(bytes: Buffer, headers: ReplyHeaders): string {
  const mark = bytes.toString('hex', 0, 2)
  const named = /charset="?([\w.:-]+)/i.exec([headers['content-type'] ?? ''].flat().join())?.[1]
  const charset = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : named
  const isWide = charset?.toLowerCase().startsWith('utf-16') === true
  for (const label of isWide ? [charset] : ['utf-8', charset]) {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes)
    } catch {
      // the next one
    }
  }
  return new TextDecoder().decode(bytes)
}
