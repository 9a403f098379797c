import { escapeControls } from '../shown-text.ts'

declare const masked: unique symbol

/** Can leave the process. Decisions never take it. */
export type MaskedText = string & { readonly [masked]: true }

/** For decisions. A masked text does not fit. */
export type RawText = string & { readonly [masked]?: never }

/** Ordinary words contain shorter secrets. */
export const MIN_MASKED_LENGTH = 4

/** Works in linear time. */
export interface SecretMask {
  readonly add: (secret: string) => void
  readonly mask: (text: string) => MaskedText
  readonly encoded: number
}

const MASK = '[secret]'

const HEAD_LENGTH = 64
/** A shorter part of a secret is shown. */
const MIN_PART_LENGTH = 16
/** Possible lengths. The longest that fits is used. */
const HEAD_LENGTHS = [HEAD_LENGTH, MIN_PART_LENGTH, MIN_MASKED_LENGTH]

/** If more needles share a head, the head masks the length of the longest. */
const MAX_NEEDLES_PER_HEAD = 16

/** In characters. Above it, the older half is dropped. */
const MAX_HELD = 8 * 1024 * 1024

/** Shorter lines occur in other texts too. */
const MIN_LINE_LENGTH = 16

interface Needle {
  readonly text: string
  readonly head: string
  /** Masked only as a whole word, because it reads like a word. */
  readonly isWord: boolean
  /** Characters that the head masks, for all needles that share it. */
  readonly reach?: number
}

/** Needles with heads of one length, by hash. */
interface Heads {
  readonly length: number
  /** Factor of the head's first character in its hash. */
  readonly weight: number
  readonly byHash: Map<number, Needle[]>
}

export function createSecretMask(secrets: Iterable<string> = []): SecretMask {
  /** In the order of the last `add`. */
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
      const hash = hashAt(head, 0, head.length)
      const near = byHash.getOrInsertComputed(hash, () => [])
      const same = near.filter((other) => other.head === head)
      const reach = Math.max(text.length, ...same.map((other) => other.reach ?? other.text.length))
      const isCrowded = same.length === MAX_NEEDLES_PER_HEAD || same[0]?.reach !== undefined
      if (isCrowded) byHash.set(hash, [...near.filter((other) => other.head !== head), crowded(head, reach)])
      else if (!same.some((other) => other.text === text)) near.push(needle)
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
    if (held.size === 0) return text as MaskedText
    const rolling = [...heads.values()].map((each) => ({ ...each, hash: hashAt(text, 0, each.length) }))
    let shown = ''
    let from = 0
    let hiddenTo = 0
    for (let at = 0; at + MIN_MASKED_LENGTH <= text.length; at += 1) {
      // Another secret can begin inside a masked secret.
      const end = at < hiddenTo - HEAD_LENGTH ? 0 : endOfMatch(rolling, text, at)
      if (end > hiddenTo) {
        if (at > hiddenTo || hiddenTo === 0) shown += text.slice(from, at) + MASK
        from = hiddenTo = end
      }
      for (const each of rolling) each.hash = rolled(each.hash, each.weight, text, at, each.length)
    }
    return (shown + text.slice(from)) as MaskedText
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

/** A rolling hash. Different texts can collide. */
function hashAt(text: string, at: number, length: number): number {
  let hash = 0
  for (let index = at; index < at + length; index += 1)
    hash = (Math.imul(hash, BASE) + text.charCodeAt(index)) | 0
  return hash
}

/** In constant time. */
function rolled(hash: number, weight: number, text: string, at: number, length: number): number {
  return (Math.imul(hash - Math.imul(text.charCodeAt(at), weight), BASE) + text.charCodeAt(at + length)) | 0
}

/** Of the longest needle. 0 if there is none. */
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
      // Skip a needle that differs at the end of the longest match: it cannot mask more.
      if (end > 0 && needle.reach === undefined && needle.text[end - at] !== text[end]) continue
      if (!text.startsWith(needle.head, at)) continue
      if (needle.reach !== undefined) {
        end = Math.max(end, Math.min(at + needle.reach, text.length))
        continue
      }
      let last = at + length
      while (last < text.length && last - at < needle.text.length && text[last] === needle.text[last - at])
        last += 1
      // A message can repeat the beginning of a secret. A text cut for display can end inside one.
      const isPart = last - at < needle.text.length
      if (isPart && last - at < MIN_PART_LENGTH && text[last] !== '…') continue
      if (last > end && (!needle.isWord || isWholeWord(text, at, last))) end = last
    }
  }
  return end
}

function crowded(head: string, reach: number): Needle {
  return { text: head, head, isWord: false, reach }
}

function needlesOf(secret: string): readonly Needle[] {
  const forms = [
    ...linesOf(secret),
    JSON.stringify(secret).slice(1, -1),
    escapeControls(secret),
    ...urlFormsOf(secret),
    ...base64Of(secret),
  ]
  const others = new Set(forms.filter((form) => form !== secret && form.length >= MIN_MASKED_LENGTH))
  return [needleOf(secret, WORD.test(secret)), ...[...others].map((form) => needleOf(form, false))]
}

/** With digits in both cases, as in a form, and with each reserved character encoded (RFC 3986, 2.2). */
function urlFormsOf(secret: string): readonly string[] {
  const url = encodeURIComponent(secret.toWellFormed())
  const strict = url.replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return [url, strict].flatMap((each) => {
    const lower = each.replaceAll(/%../g, (byte) => byte.toLowerCase())
    return [each, lower, each.replaceAll('%20', '+'), lower.replaceAll('%20', '+')]
  })
}

function needleOf(text: string, isWord: boolean): Needle {
  const length = HEAD_LENGTHS.find((each) => each <= text.length) ?? MIN_MASKED_LENGTH
  return { text, head: text.slice(0, length), isWord }
}

/** A message can repeat one line of a certificate. */
function linesOf(secret: string): readonly string[] {
  if (!secret.includes('\n')) return []
  return secret
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith('-----'))
}

/** In both alphabets, at all byte offsets, without the characters that neighbours change. */
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

const WORD = /^[a-z]{1,16}\d{0,4}$/i
const LETTER = /[\p{L}\p{N}]/u

function isWholeWord(text: string, from: number, to: number): boolean {
  return !LETTER.test(text[from - 1] ?? '') && !LETTER.test(text[to] ?? '')
}
