import { LOCK } from '../kinds/lock/schema.ts'
import type { ParsedDocument } from './parse-document.ts'

/** `kind` and `Lock` near each other, in any layout; kinds that are misspelt in their case count. */
const LOCK_TEXT = /\bkind\b[\s\S]{0,40}?\block\b/i

/** Whether a text that cannot be read may hold a `Lock`. */
export function mentionsLock(text: string): boolean {
  return LOCK_TEXT.test(text)
}

/** Whether the documents of one part of a file leave a `Lock`, or an entry of one, unread. `text` is that part. */
export function hidesLock(documents: readonly ParsedDocument[], text: string): boolean {
  return documents.some((document) => {
    if (document.kind === LOCK.name) return document.manifest === undefined
    return (!document.readable || document.kind === undefined) && mentionsLock(text)
  })
}
