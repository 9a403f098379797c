import { sensitiveTexts } from '../kinds/mask.ts'
import { type EchoMask, type GrowingEchoMask, growingEchoMask, isPlainWord } from '../lib/echo.ts'
import type { Secret } from '../lib/secret.ts'
import { readsLikeName } from '../lib/sensitive.ts'

/** Shorter ones may stand inside anything, and longer ones are certificates, of which there may be many. In characters. */
const LENGTHS = { shortest: 6, longest: 2_048 } as const

/** All that is remembered, in characters: some hundred keys and passwords. What is used is noted again and again. */
const ROOM = 8_192

/**
 * Every secret that this process has read: whoever answers may repeat that of somebody else, or one that was replaced
 * meanwhile. Names and single words are none: they would be masked inside the words of a platform.
 */
export interface KnownSecrets {
  note(secret: Secret): void
  /** The same of what a body holds under sensitive names, also where a manifest writes it out. @param held what mounted secrets hold of it */
  noteSent(body: string, held: readonly Secret[]): void
  /** Masks all of them. */
  readonly echoes: EchoMask
  /** Whether a text is one of them as it stands. */
  isOne(text: string): boolean
}

/** What was noted lately, in one mask: it is made ready only when somebody asks. */
interface Generation {
  readonly values: Set<string>
  readonly mask: GrowingEchoMask
}

export function createKnownSecrets(): KnownSecrets {
  let present = emptyGeneration()
  let past = emptyGeneration()
  let left = ROOM

  function note(value: string): void {
    if (present.values.has(value) || !isTelling(value)) return
    if (value.length > left) {
      past = present
      present = emptyGeneration()
      left = ROOM
    }
    left -= value.length
    present.values.add(value)
  }

  return {
    note: (secret) => note(secret.reveal()),
    noteSent(body, held) {
      const texts = sensitiveTexts(body, new Set(held.map((secret) => secret.reveal())))
      for (const text of texts) if (typeof text === 'string') note(text)
    },
    echoes: (text) => maskedBy(past, maskedBy(present, text)),
    isOne: (text) =>
      [text, text.toLowerCase(), text.toUpperCase()].some(
        (one) => present.values.has(one) || past.values.has(one),
      ),
  }
}

function emptyGeneration(): Generation {
  return { values: new Set(), mask: growingEchoMask('whole') }
}

function maskedBy({ values, mask }: Generation, text: string): string {
  for (const value of values) mask.add(value)
  return values.size === 0 ? text : mask.echoes(text)
}

function isTelling(value: string): boolean {
  const { shortest, longest } = LENGTHS
  return value.length >= shortest && value.length <= longest && !isPlainWord(value) && !readsLikeName(value)
}
