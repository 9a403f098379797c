import { UUID } from './sensitive.ts'

/** Ignores case, because platforms and people write UUIDs in either. */
export function sameId(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && a.toLowerCase() === b?.toLowerCase()
}

export function isUuid(text: string | undefined): text is string {
  return text !== undefined && UUID.test(text)
}
