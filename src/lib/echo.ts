/*
 * What we sent and may come back: as it is, in another case, with other white space, encoded. Linear in the text and in the
 * secrets: all parts of all secrets are in one set for each length, and the text is gone over once for each of these.
 */

/** A secret; or a name of somebody, of which only the whole word is masked. */
export type Echo = string | { readonly wholeWord: string }

const MASK = '[secret]'

/** A way in which a text may come back. @property part so many characters in a row of it tell it; shorter ones count as a whole */
interface Form {
  readonly text: string
  readonly part: number
}

/** Of a longer secret only its most likely forms are looked for: a chain of certificates, a file with keys. */
const LONG = 4_096

/** Parts of these tell nothing of a secret that holds them. */
const COMMON = [
  'https://',
  '-----begincertificate-----',
  '-----endcertificate-----',
  '-----beginprivatekey-----',
  '-----endprivatekey-----',
  'defaultendpointsprotocol=https;',
  'accountname=',
  'accountkey=',
  'sharedaccesskeyname=',
  'sharedaccesskey=',
  'sharedaccesssignature=',
  'blobendpoint=https://',
  '.blob.core.windows.net',
  '.servicebus.windows.net/',
  'endpointsuffix=core.windows.net',
] as const

/** Prepared once for what was sent, since it may be asked for many texts. */
export interface EchoMask {
  /** The text with a mask over whatever also stands in a secret. */
  (text: string): string
}

interface Needles {
  /** Parts of squeezed texts, by their length. */
  readonly parts: ReadonlyMap<number, ReadonlySet<string>>
  /** Squeezed texts that count only as a whole. */
  readonly anywhere: ReadonlySet<string>
  /** Folded texts that count only as a whole word. */
  readonly words: ReadonlySet<string>
  /** Beginnings that the end of a text may have cut off. */
  readonly beginnings: readonly { readonly text: string; readonly isWord: boolean }[]
}

/** So many characters in a row that also stand in a secret are a part of it. */
const PART = 8

/** A single word, or something very short: it may stand inside words that have nothing to do with it. */
const PLAIN = /^(?:.{1,3}|[a-z]{1,16}\d{0,4})$/iu

export function echoMask(secrets: readonly Echo[]): EchoMask {
  const needles = needlesOf(secrets)
  return (text) => maskWith(needles, text)
}

/** As {@link echoMask}, for one text. */
export function mask(text: string, secrets: readonly Echo[]): string {
  return echoMask(secrets)(text)
}

function needlesOf(secrets: readonly Echo[]): Needles {
  const parts = new Map<number, Set<string>>()
  const anywhere = new Set<string>()
  const words = new Set<string>()
  const beginnings: { readonly text: string; readonly isWord: boolean }[] = []
  for (const secret of new Set(secrets)) {
    const plain = typeof secret === 'string' ? secret : secret.wholeWord
    const isWord = typeof secret !== 'string' || PLAIN.test(plain)
    if (plain === '') continue
    if (isWord) {
      words.add(fold(plain))
      beginnings.push({ text: fold(plain), isWord })
    }
    for (const form of formsOf(plain, isWord)) {
      const text = squeezed(fold(form.text)).text
      if (text.length >= form.part) addParts(text, form.part, parts)
      else if (isWord || text.length <= 3) words.add(fold(form.text))
      else anywhere.add(text)
      if (form.part === PART) beginnings.push({ text: text.slice(0, PART), isWord: false })
    }
  }
  return { parts, anywhere, words, beginnings }
}

/** @param isWord whether it is looked for as a whole word, and so not in parts of it */
function formsOf(secret: string, isWord: boolean): readonly Form[] {
  const bytes = Buffer.from(secret, 'utf8')
  const plain = isWord ? [] : [{ text: secret, part: PART }]
  const likely = [
    { text: JSON.stringify(secret).slice(1, -1), part: PART },
    // on its own, and inside something longer that was encoded as a whole
    ...[0, 1, 2].map((shift) => ({ text: base64(bytes, shift), part: 11 })),
  ]
  const rare = [
    ...[0, 1, 2].map((shift) => ({ text: base64(bytes, shift, 'base64url'), part: 11 })),
    { text: bytes.toString('hex'), part: 2 * PART },
    { text: encodeURIComponent(secret.toWellFormed()), part: 12 },
    { text: bytes.toString('hex').replaceAll(/../g, '%$&'), part: 3 * PART },
    {
      text: [...Array(secret.length).keys()].map((at) => unicodeEscape(secret, at)).join(''),
      part: 5 * PART,
    },
    { text: asHtml(secret), part: PART },
    { text: Array.from(secret).toReversed().join(''), part: PART },
  ]
  const forms = [...plain, ...likely, ...(secret.length <= LONG ? rare : [])]
  // as it is, it is a word already
  return isWord ? forms.filter(({ text }) => text !== secret) : forms
}

/** What the bytes look like in base64 behind `shift` others: without the characters that depend on their neighbours. */
function base64(bytes: Buffer, shift: number, as: 'base64' | 'base64url' = 'base64'): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString(as)
    .replace(/=+$/, '')
  const isAligned = (bytes.length + shift) % 3 === 0
  if (shift === 0) return text
  return text.slice(shift + 1, isAligned ? undefined : -1)
}

function unicodeEscape(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`
}

function asHtml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': 'amp',
    '<': 'lt',
    '>': 'gt',
    '"': 'quot',
    "'": '#39',
  }
  return text.replaceAll(/[&<>"']/g, (character) => `&${names[character]};`)
}

function addParts(text: string, length: number, parts: Map<number, Set<string>>): void {
  const set = parts.get(length) ?? new Set<string>()
  parts.set(length, set)
  for (let at = 0; at + length <= text.length; at += 1) {
    const part = text.slice(at, at + length)
    if (!COMMON.some((common) => common.includes(part))) set.add(part)
  }
}

function maskWith(needles: Needles, text: string): string {
  const hidden = new Uint8Array(text.length)
  const folded = fold(text)
  const { text: dense, from } = squeezed(folded)
  for (const [length, parts] of needles.parts) {
    for (let at = 0; at + length <= dense.length; at += 1) {
      if (parts.has(dense.slice(at, at + length))) hide(hidden, from, at, length)
    }
  }
  for (const needle of needles.anywhere) {
    for (let at = dense.indexOf(needle); at !== -1; at = dense.indexOf(needle, at + needle.length))
      hide(hidden, from, at, needle.length)
  }
  for (const word of needles.words) {
    for (let at = folded.indexOf(word); at !== -1; at = folded.indexOf(word, at + 1))
      if (isWholeWord(folded, at, word)) hidden.fill(1, at, at + word.length)
  }
  for (const { text: begin, isWord } of needles.beginnings) {
    for (let length = begin.length - 1; length >= 3; length -= 1) {
      const start = begin.slice(0, length)
      if (isWord && folded.endsWith(start) && isWholeWord(folded, folded.length - length, start))
        hidden.fill(1, folded.length - length)
      if (!isWord && dense.endsWith(start)) hide(hidden, from, dense.length - length, length)
    }
  }
  return shown(text, hidden)
}

function shown(text: string, hidden: Uint8Array): string {
  if (!hidden.includes(1)) return text
  let result = ''
  for (let at = 0; at < text.length; at += 1) {
    if (hidden[at] === 0) result += text[at]
    else if (hidden[at - 1] !== 1) result += MASK
  }
  return result
}

/** Hides what stands at that place of a squeezed text, with what was squeezed out of it. */
function hide(hidden: Uint8Array, from: Uint32Array, at: number, length: number): void {
  hidden.fill(1, from[at], (from[at + length - 1] ?? 0) + 1)
}

const LETTER = /[\p{L}\p{N}]/u

function joins(outside: string | undefined, inside: string | undefined): boolean {
  return outside !== undefined && inside !== undefined && LETTER.test(outside) && LETTER.test(inside)
}

function isWholeWord(text: string, at: number, word: string): boolean {
  return !joins(text[at - 1], word[0]) && !joins(text[at + word.length], word.at(-1))
}

/** In lower case, each character where it was. */
function fold(text: string): string {
  const lower = text.toLowerCase()
  if (lower.length === text.length) return lower
  return Array.from({ length: text.length }, (_, at) => {
    const one = text.charAt(at).toLowerCase()
    return one.length === 1 ? one : text.charAt(at)
  }).join('')
}

const SQUEEZED_OUT = /[\p{C}\s\\]/u

/** Without white space, what cannot be seen, and backslashes, with the place where each character was. */
function squeezed(text: string): { readonly text: string; readonly from: Uint32Array } {
  const from = new Uint32Array(text.length)
  let dense = ''
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    const isPlain = code > 0x20 && code < 0x7f && code !== 0x5c
    if (!isPlain && SQUEEZED_OUT.test(text.charAt(at))) continue
    from[dense.length] = at
    dense += text.charAt(at)
  }
  return { text: dense, from }
}
