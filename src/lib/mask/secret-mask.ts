declare const masked: unique symbol

/** A text without secrets, fit to leave the process. No decision takes one. */
export type MaskedText = string & { readonly [masked]: true }

/** A text as the platform sent it: decisions take it, and a masked text is none. */
export type RawText = string & { readonly [masked]?: never }

/** Shorter secrets stand inside ordinary words, so that nothing of them is masked. In characters. */
export const MIN_MASKED_LENGTH = 4

/** Masks the secrets of this process in texts that leave it. The work is linear in the text. */
export interface SecretMask {
  /** Masks a secret from now on. Does nothing for a secret that it holds. */
  readonly add: (secret: string) => void
  readonly mask: (text: string) => MaskedText
  /** How many secrets it has encoded so far. */
  readonly encoded: number
}

const MASK = '[secret]'

/** With this head, a needle masks all that the text repeats of it. */
const HEAD_LENGTH = 64
/** The longest of these that a needle has is the length of its head. */
const HEAD_LENGTHS = [HEAD_LENGTH, 16, MIN_MASKED_LENGTH]

/** Secrets are held up to this sum of their lengths. Then the half that was added first is dropped. In characters. */
const MAX_HELD = 8 * 1024 * 1024

/** Shorter lines of a secret with several lines stand in other texts, too. In characters. */
const MIN_LINE_LENGTH = 16

interface Needle {
  readonly text: string
  readonly head: string
  /** Whether it is masked only as a whole word, because it reads like one. */
  readonly isWord: boolean
}

/** Needles with heads of one length, by the hashes of their heads. */
interface Heads {
  readonly length: number
  /** Of the first character of a head in its hash. */
  readonly weight: number
  readonly byHash: Map<number, Needle[]>
}

export function createSecretMask(secrets: Iterable<string> = []): SecretMask {
  /** In the order in which they were last added. */
  const held = new Set<string>()
  const heads = new Map<number, Heads>()
  let heldLength = 0
  let encoded = 0

  function add(secret: string): void {
    if (secret.length < MIN_MASKED_LENGTH) return
    const isHeld = held.delete(secret)
    held.add(secret)
    if (isHeld) return
    heldLength += secret.length
    encode(secret)
    if (heldLength > MAX_HELD) dropOldest()
  }

  function encode(secret: string): void {
    encoded += 1
    for (const needle of needlesOf(secret)) {
      const { head, text } = needle
      const { byHash } = heads.getOrInsertComputed(head.length, headsOf)
      const same = byHash.getOrInsertComputed(hashAt(head, 0, head.length), () => [])
      if (same.every((other) => other.text !== text)) same.push(needle)
    }
  }

  function dropOldest(): void {
    for (const secret of held) {
      if (heldLength <= MAX_HELD / 2 || held.size === 1) break
      held.delete(secret)
      heldLength -= secret.length
    }
    heads.clear()
    for (const secret of held) encode(secret)
  }

  function mask(text: string): MaskedText {
    if (held.size === 0) return text as MaskedText // nothing is to be masked
    const rolling = [...heads.values()].map((each) => ({ ...each, hash: hashAt(text, 0, each.length) }))
    let shown = ''
    let from = 0
    let hiddenTo = 0
    for (let at = 0; at + MIN_MASKED_LENGTH <= text.length; at += 1) {
      // Another secret may begin inside of this one.
      const end = at < hiddenTo - HEAD_LENGTH ? 0 : endOfMatch(rolling, text, at)
      if (end > hiddenTo) {
        if (at > hiddenTo || hiddenTo === 0) shown += text.slice(from, at) + MASK
        from = hiddenTo = end
      }
      for (const each of rolling) each.hash = rolled(each.hash, each.weight, text, at, each.length)
    }
    return (shown + text.slice(from)) as MaskedText // every secret in it is masked
  }

  for (const secret of secrets) add(secret)
  return {
    add,
    mask,
    get encoded() {
      return encoded
    },
  }
}

const BASE = 31

function headsOf(length: number): Heads {
  const weight = Array.from({ length: length - 1 }).reduce<number>((power) => Math.imul(power, BASE), 1)
  return { length, weight, byHash: new Map() }
}

/** A number for so many characters at a place. Other characters can have the same. */
function hashAt(text: string, at: number, length: number): number {
  let hash = 0
  for (let index = at; index < at + length; index += 1)
    hash = (Math.imul(hash, BASE) + text.charCodeAt(index)) | 0
  return hash
}

/** The hash of the next place: in constant time, so that a text costs the same whatever is in it. */
function rolled(hash: number, weight: number, text: string, at: number, length: number): number {
  return (Math.imul(hash - Math.imul(text.charCodeAt(at), weight), BASE) + text.charCodeAt(at + length)) | 0
}

/** Where the longest needle that stands at a place ends; 0 if there is none. */
function endOfMatch(
  rolling: readonly (Heads & { readonly hash: number })[],
  text: string,
  at: number,
): number {
  let end = 0
  for (const { byHash, hash, length } of rolling) {
    const near = byHash.get(hash)
    if (near === undefined) continue
    for (const needle of near) {
      // It masks no more than another one that the text repeats up to its end.
      if (end > 0 && needle.text[end - at] !== text[end]) continue
      if (!text.startsWith(needle.head, at)) continue
      let last = at + length
      while (last < text.length && last - at < needle.text.length && text[last] === needle.text[last - at])
        last += 1
      if (length < HEAD_LENGTH && last - at < needle.text.length) continue
      if (last > end && (!needle.isWord || isWholeWord(text, at, last))) end = last
    }
  }
  return end
}

/** The four forms: as it is, as JSON and URLs escape it, and in base64. Each is masked wherever it stands. */
function needlesOf(secret: string): readonly Needle[] {
  const forms = [
    ...linesOf(secret),
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    ...base64Of(secret),
  ]
  const others = new Set(forms.filter((form) => form !== secret && form.length >= MIN_MASKED_LENGTH))
  return [needleOf(secret, WORD.test(secret)), ...[...others].map((form) => needleOf(form, false))]
}

function needleOf(text: string, isWord: boolean): Needle {
  const length = HEAD_LENGTHS.find((each) => each <= text.length) ?? MIN_MASKED_LENGTH
  return { text, head: text.slice(0, length), isWord }
}

/** The lines of a certificate or a key: others repeat a single line of it. */
function linesOf(secret: string): readonly string[] {
  if (!secret.includes('\n')) return []
  return secret
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith('-----'))
}

/** In both alphabets, on its own and behind one or two other bytes: without the characters that neighbours change. */
function base64Of(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8')
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const isAligned = (bytes.length + shift) % 3 === 0
    const own = text.slice(shift === 0 ? 0 : shift + 1, isAligned ? undefined : -1)
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

/** A word that people choose. It may stand inside of other words. */
const WORD = /^[a-z]{1,16}\d{0,4}$/i
const LETTER = /[\p{L}\p{N}]/u

function isWholeWord(text: string, from: number, to: number): boolean {
  return !LETTER.test(text[from - 1] ?? '') && !LETTER.test(text[to] ?? '')
}
