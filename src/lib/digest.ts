import { createHash, createHmac } from 'node:crypto'

/** The SHA-256 of a text or of bytes, in hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** The HMAC-SHA-256 of a text, in hexadecimal, first 32 digits: enough to compare, useless to look up without the key. */
export function keyedHash(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex').slice(0, 32)
}
