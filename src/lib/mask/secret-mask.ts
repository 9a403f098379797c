import { isSensitiveName } from '../sensitive.ts'
import { escapeControls } from '../shown-text.ts'

declare const masked: unique symbol

/** A text without known secrets, for output. Decisions never use it. */
export type MaskedText = string & { readonly [masked]: true }

/** Text for decisions. The type refuses a masked text. */
export type RawText = string & { readonly [masked]?: never }

/** Characters. Shorter secrets are not masked: ordinary words contain them. */
export const MIN_MASKED_LENGTH = 4

export type SecretMask = ReturnType<typeof createSecretMask>

const MASK = '[secret]'

/** Characters. A longer text is replaced by its length: a search would block the process. */
const MAX_MASKED_LENGTH = 256 * 1024

/** Characters. A shorter part or line of a secret is not masked. */
const MIN_PART_LENGTH = 16

/**
 * Lengths in characters. If a text has only the beginning of a secret, the beginning is masked from 64 characters on,
 * or from 16 if the secret is shorter than 64.
 */
const PART_LENGTHS = [64, MIN_PART_LENGTH, MIN_MASKED_LENGTH]

/** Characters at the end of a masked secret that are searched again: another secret can begin there. */
const MAX_OVERLAP = 64

/** Limit for the characters of all secrets together. Above this limit, the mask forgets the older half. */
const MAX_HELD = 4 * 1024 * 1024

interface Needle {
  readonly text: string
  /** The secret reads like a word, so only the whole word is masked. */
  readonly isWord: boolean
}

export function createSecretMask(secrets: Iterable<string> = []) {
  /** The secrets, in the order of their last `add`. */
  const held = new Set<string>()
  /** Texts to mask, grouped by their first four characters, then by length (`PART_LENGTHS`). Each group is sorted. */
  const groups = new Map<number, Map<number, Needle[]>>()
  let heldLength = 0

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
    for (const needle of [secret, ...sensitiveIn(secret)].flatMap(needlesOf)) {
      const { text } = needle
      const part = PART_LENGTHS.find((length) => length <= text.length) ?? MIN_MASKED_LENGTH
      const group = groups
        .getOrInsertComputed(keyOf(text, MIN_MASKED_LENGTH), () => new Map())
        .getOrInsertComputed(part, () => [])
      const place = firstIndex(group, [0, group.length], (other) => other.text >= text)
      if (group[place]?.text !== text) group.splice(place, 0, needle)
    }
  }

  function dropOldest(): void {
    for (const secret of held) {
      if (heldLength <= MAX_HELD / 2 || held.size === 1) break
      held.delete(secret)
      heldLength -= secret.length
    }
    groups.clear()
    for (const secret of held) encode(secret)
  }

  function mask(text: string): MaskedText {
    if (held.size === 0) return text as MaskedText
    if (text.length > MAX_MASKED_LENGTH) return `a text of ${text.length} characters` as MaskedText
    let shown = ''
    let from = 0
    let hiddenTo = 0
    let key = keyOf(text, MIN_MASKED_LENGTH - 1)
    for (let at = 0; at + MIN_MASKED_LENGTH <= text.length; at += 1) {
      key = nextKey(key, text, at + MIN_MASKED_LENGTH - 1)
      const group = at < hiddenTo - MAX_OVERLAP ? undefined : groups.get(key)
      let end = 0
      if (group !== undefined)
        for (const [part, needles] of group) end = Math.max(end, endOfMatch(needles, part, text, at))
      if (end <= hiddenTo) continue
      if (at > hiddenTo || hiddenTo === 0) shown += text.slice(from, at) + MASK
      from = hiddenTo = end
    }
    return (shown + text.slice(from)) as MaskedText
  }

  for (const secret of secrets) add(secret)
  return { add, mask }
}

/** Sensitive values inside a secret that is JSON, or JSON in base64, such as a service-account key. */
function sensitiveIn(secret: string): readonly string[] {
  const forms = [secret, Buffer.from(secret, 'base64').toString()]
  const text = forms.find((form) => form.trimStart().startsWith('{')) ?? '[]'
  const found: string[] = []
  try {
    JSON.parse(text, (name, value: unknown) => {
      const isLong = typeof value === 'string' && value.length >= MIN_MASKED_LENGTH
      if (isLong && isSensitiveName(name)) found.push(value)
      return value
    })
  } catch {
    return []
  }
  return found
}

function nextKey(key: number, text: string, at: number): number {
  return (key << 8) ^ text.charCodeAt(at)
}

function keyOf(text: string, length: number): number {
  let key = 0
  for (let at = 0; at < length; at += 1) key = nextKey(key, text, at)
  return key
}

function endOfMatch(needles: readonly Needle[], part: number, text: string, at: number): number {
  let last = at
  let end = 0
  const isMasked = ({ isWord }: Needle) => !isWord || isWholeWord(text, at, last)
  let [from, to] = [0, needles.length]
  while (from < to) {
    const low = needles[from]
    last = endOfBoth(low?.text ?? '', needles[to - 1]?.text ?? '', text, at, last)
    const offset = last - at
    if (low?.text.length === offset) {
      if (isMasked(low)) end = last
      from += 1
    }
    const code = last < text.length ? text.charCodeAt(last) : -1
    const first = firstIndex(needles, [from, to], (each) => each.text.charCodeAt(offset) >= code)
    const beyond = firstIndex(needles, [first, to], (each) => each.text.charCodeAt(offset) > code)
    // The beginning of a secret is also masked, because a message can end inside a secret.
    const isPart = offset >= (text[last] === '…' ? MIN_MASKED_LENGTH : Math.max(part, MIN_PART_LENGTH))
    const differing = [...needles.slice(from, first), ...needles.slice(beyond, to)]
    if (isPart && differing.some(isMasked)) end = last
    ;[from, to] = [first, beyond]
  }
  return end
}

function firstIndex<T>(
  items: readonly T[],
  [from, to]: readonly [number, number],
  holds: (item: T) => boolean,
): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >> 1
    const item = items[middle]
    if (item === undefined || holds(item)) high = middle
    else low = middle + 1
  }
  return low
}

function endOfBoth(low: string, high: string, text: string, at: number, from: number): number {
  let last = from
  for (; last < text.length; last += 1) {
    const next = text[last]
    if (next !== low[last - at] || next !== high[last - at]) break
  }
  return last
}

function needlesOf(secret: string): readonly Needle[] {
  const forms = [
    ...linesOf(secret),
    ...jsonFormsOf(secret),
    escapeControls(secret),
    ...urlFormsOf(secret),
    ...base64Of(secret),
    ...htmlFormsOf(secret),
  ]
  const others = new Set(forms.filter((form) => form !== secret && form.length >= MIN_MASKED_LENGTH))
  return [
    { text: secret, isWord: WORD.test(secret) },
    ...[...others].map((text) => ({ text, isWord: false })),
  ]
}

/** `JSON.stringify` escapes fewer characters than Go (`&<>`), Python and PHP (all except ASCII), and .NET (both). */
const ESCAPED = [/[&<>\u2028\u2029]/g, /[\u0080-\uffff]/g, /[&<>'=+]|\\"|[\u0080-\uffff]/g]

function jsonFormsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  return [json, ...ESCAPED.map((some) => json.replaceAll(some, codeOf))].flatMap((text) => {
    const upper = text.replaceAll(/(?<=\\u)[0-9a-f]{4}/g, (code) => code.toUpperCase())
    return [text, upper, text.replaceAll('/', String.raw`\/`)]
  })
}

function codeOf(text: string): string {
  const code = text.charCodeAt(text.length - 1).toString(16)
  return String.raw`\u` + code.padStart(4, '0')
}

/** Forms in a URL: `%2F` or `%2f`, a space as `%20` or `+`, reserved characters plain or encoded (RFC 3986, 2.2). */
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

/** Escaped quotes in HTML: by Python, by Go, by lodash and .NET. */
const QUOTES = [
  ['&quot;', '&#x27;'],
  ['&#34;', '&#39;'],
  ['&quot;', '&#39;'],
] as const

function htmlFormsOf(secret: string): readonly string[] {
  const text = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return QUOTES.map(([double, single]) => text.replaceAll('"', double).replaceAll("'", single))
}

/** A message can repeat one line of a certificate, so each long line is masked. */
function linesOf(secret: string): readonly string[] {
  if (!secret.includes('\n')) return []
  return secret
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_PART_LENGTH && !line.startsWith('-----'))
}

/** The secret within Base64 of a longer text, in both alphabets, at all byte offsets. */
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
