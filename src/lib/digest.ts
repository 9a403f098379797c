import { createHmac, hash } from 'node:crypto'

export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data)
}

/** @returns the FNV-1a hash, from 0 to below 2^31 */
export function shortHash(text: string): number {
  let mixed = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) mixed = Math.imul(mixed ^ text.charCodeAt(i), 0x01000193)
  return mixed >>> 1
}

/** 32 hexadecimal digits: enough to compare. Without the key, nobody can guess the text by hashing. */
export function keyedHash(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex').slice(0, 32)
}
