import { sha256 } from '../lib/digest.ts'

/** A number from 0 up to 1 that depends on nothing but the text: the same text, the same number. */
export function chanceOf(text: string): number {
  return Number.parseInt(sha256(text).slice(0, 12), 16) / 2 ** 48
}
