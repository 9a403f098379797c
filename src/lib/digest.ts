import { createHmac, hash } from 'node:crypto'

export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data)
}

/** 32 hexadecimal digits: enough to compare. Without the key, nobody can guess the text by hashing. */
export function keyedHash(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex').slice(0, 32)
}
