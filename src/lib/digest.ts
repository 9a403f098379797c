import { createHmac, hash } from 'node:crypto'

/** The SHA-256 of a text or of bytes, in hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data)
}

/** A number from 0 to below 2^31 that is the same for the same text, and seldom for another (FNV-1a). */
export function shortHash(text: string): number {
  let mixed = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) mixed = Math.imul(mixed ^ text.charCodeAt(i), 0x01000193)
  return mixed >>> 1
}

/** The HMAC-SHA-256 of a text, in hexadecimal, first 32 digits: enough to compare, useless to look up without the key. */
export function keyedHash(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex').slice(0, 32)
}
