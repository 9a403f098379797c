import { type Layer, layersOf } from './echo-layers.ts'

/*
 * What we sent and may come back: as it is, in another case, with other white space, encoded, also twice. Linear in the text and
 * in the secrets: all parts of all secrets are in one set for each length, and the text is gone over once for each of these, in
 * each of the forms that it can be read in.
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
].map((text) => layersOf(text)[0].dense)

/** Prepared once for what was sent, since it may be asked for many texts. */
export interface EchoMask {
  /** The text with a mask over whatever also stands in a secret. */
  (text: string): string
}

/** Of nothing that was sent. */
export const NO_ECHOES: EchoMask = (text) => text

interface Needles {
  /** Parts of squeezed texts, by their length. */
  readonly parts: Map<number, Set<string>>
  /** Squeezed texts that count only as a whole. */
  readonly anywhere: Set<string>
  /** Folded texts that count only as a whole word. */
  readonly words: Set<string>
  /** Beginnings that the end of a text may have cut off. */
  readonly beginnings: Set<string>
  readonly beginningsOfWords: Set<string>
}

/** So many characters in a row that also stand in a secret are a part of it. */
const PART = 8

/** So many, of one that is made of letters: fewer may stand inside words that have nothing to do with it. */
const PART_OF_LETTERS = 12

/** Of texts that were looked at, so many are remembered, each of so many characters at most. */
const MOST_REMEMBERED = 256
const LONGEST_REMEMBERED = 64

/** Shorter words stand by chance in what was decoded and may have been something else. */
const SHORTEST_DECODED = 5

/** As much of a text is looked at, in characters. The rest is not shown: a reply of megabytes must not hold up the process. */
const LONGEST_TEXT = 16_384

/** So much of a word is looked for at the end of a text. */
const LONGEST_WORD = 64

/** So many may be left at the end of a text that was cut. */
const SHORTEST_BEGINNING = 4

/** A single word, or something very short: it may stand inside words that have nothing to do with it. */
const PLAIN = /^(?:.{1,3}|[a-z]{1,16}\d{0,4})$/iu

/** Whether a secret is masked only as a whole word, because it may be one. */
export function isPlainWord(secret: string): boolean {
  return PLAIN.test(secret)
}

export function echoMask(secrets: readonly Echo[]): EchoMask {
  const growing = growingEchoMask('cut')
  for (const secret of secrets) growing.add(secret)
  return growing.echoes
}

/** A mask that may be told of more secrets later. */
export interface GrowingEchoMask {
  /** Does nothing for one that was added before. */
  add(secret: Echo): void
  readonly echoes: EchoMask
}

/** @param ends whether a text may end in the middle of a secret: of many secrets, some begin as a word ends */
export function growingEchoMask(ends: 'cut' | 'whole'): GrowingEchoMask {
  const added = new Set<Echo>()
  const needles: Needles = {
    parts: new Map(),
    anywhere: new Set(),
    words: new Set(),
    beginnings: new Set(),
    beginningsOfWords: new Set(),
  }
  /** States, ids of services: the same few texts come with each reply. */
  const remembered = new Map<string, string>()
  return {
    add(secret) {
      if (added.has(secret)) return
      added.add(secret)
      addNeedles(secret, ends, needles)
      remembered.clear()
    },
    echoes(text) {
      const before = remembered.get(text)
      if (before !== undefined) return before
      const masked = maskWith(needles, text)
      if (text.length > LONGEST_REMEMBERED) return masked
      if (remembered.size >= MOST_REMEMBERED) remembered.clear()
      remembered.set(text, masked)
      return masked
    },
  }
}

/** As {@link echoMask}, for one text. */
export function mask(text: string, secrets: readonly Echo[]): string {
  return echoMask(secrets)(text)
}

function addNeedles(secret: Echo, ends: 'cut' | 'whole', needles: Needles): void {
  const { parts, anywhere, words, beginnings, beginningsOfWords } = needles
  const plain = typeof secret === 'string' ? secret : secret.wholeWord
  const isWord = typeof secret !== 'string' || isPlainWord(plain)
  if (plain === '') return
  if (isWord) {
    words.add(plain.toLowerCase())
    if (ends === 'cut')
      addBeginnings(plain.toLowerCase(), Math.min(LONGEST_WORD, plain.length - 1), beginningsOfWords)
  }
  for (const form of formsOf(plain, { isWord, isName: typeof secret !== 'string' })) {
    const text = squeezedForm(form.text)
    // The shifted base64 of one character is empty: a search for it never ends.
    if (text === '' || form.text === '') continue
    if (text.length >= form.part) addParts(text, form.part, parts)
    else if (isWord || text.length <= 3) words.add(form.text.toLowerCase())
    else anywhere.add(text)
    if (form.part === PART && ends === 'cut') addBeginnings(text, PART - 1, beginnings)
  }
}

/** A form as it stands in the squeezed layers of a text. */
function squeezedForm(text: string): string {
  return layersOf(text)[0].dense
}

function addBeginnings(text: string, longest: number, beginnings: Set<string>): void {
  for (let length = SHORTEST_BEGINNING; length <= Math.min(longest, text.length); length += 1)
    beginnings.add(text.slice(0, length))
}

/**
 * The forms that no layer of a text undoes.
 * @property isWord whether it is looked for as a whole word, and so not in parts of it
 * @property isName whether nothing but the whole word is masked of it
 */
function formsOf(
  secret: string,
  { isWord, isName }: { readonly isWord: boolean; readonly isName: boolean },
): readonly Form[] {
  const bytes = Buffer.from(secret, 'utf8')
  const plain = { text: secret, part: isWord ? PART_OF_LETTERS : PART }
  // on its own, and inside something longer that was encoded as a whole
  const encoded = [0, 1, 2].map((shift) => ({ text: base64(bytes, shift), part: 11 }))
  const hex = bytes.toString('hex')
  const rare = [
    { text: hex, part: 2 * PART },
    { text: hex.replaceAll(/..(?!$)/g, '$&:'), part: 3 * PART },
    { text: Array.from(secret).toReversed().join(''), part: plain.part },
  ]
  const forms = [plain, ...encoded, ...(secret.length <= LONG ? rare : [])]
  // as it is, it is a word already
  return isWord && (isName || secret.length < PART_OF_LETTERS)
    ? forms.filter((form) => form !== plain && form.text !== secret)
    : forms
}

/** What the bytes look like in base64 behind `shift` others: without the characters that depend on their neighbours. */
function base64(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const isAligned = (bytes.length + shift) % 3 === 0
  if (shift === 0) return text
  return text.slice(shift + 1, isAligned ? undefined : -1)
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
  if (text.length > LONGEST_TEXT) return `${maskWith(needles, text.slice(0, LONGEST_TEXT))}…`
  const hidden = new Uint8Array(text.length)
  for (const layer of layersOf(text)) hideIn(needles, layer, (from, to) => hidden.fill(1, from, to))
  return shown(text, hidden)
}

/** Finds what stands in one layer of a text. @param hide takes the places in the text itself; the end is not part of it */
function hideIn(needles: Needles, layer: Layer, hide: (from: number, to: number) => void): void {
  const { text, dense, places } = layer
  const hideDense = (at: number, length: number) =>
    hide(layer.start(places[at] ?? 0), layer.end(places[at + length - 1] ?? 0))
  const hideWord = (at: number, length: number) => hide(layer.start(at), layer.end(at + length - 1))
  for (const [length, parts] of needles.parts) {
    for (let at = 0; at + length <= dense.length; at += 1) {
      if (parts.has(dense.slice(at, at + length))) hideDense(at, length)
    }
  }
  for (const needle of needles.anywhere) {
    for (let at = dense.indexOf(needle); at !== -1; at = dense.indexOf(needle, at + needle.length))
      hideDense(at, needle.length)
  }
  for (const word of needles.words) {
    if (layer.isGuess && word.length < SHORTEST_DECODED) continue
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
      if (isWholeWord(text, at, word)) hideWord(at, word.length)
  }
  if (!layer.isGuess) hideCutOff(needles, layer, { hideDense, hideWord })
}

/** The beginning of a secret that is left at the end of a text, also where dots say that it was cut. */
function hideCutOff(
  { beginnings, beginningsOfWords }: Needles,
  { text, dense }: Layer,
  hide: Readonly<Record<'hideDense' | 'hideWord', (at: number, length: number) => void>>,
): void {
  const [end, denseEnd] = [endOf(text), endOf(dense)]
  for (let length = SHORTEST_BEGINNING; length < PART; length += 1)
    if (length <= denseEnd && beginnings.has(dense.slice(denseEnd - length, denseEnd)))
      hide.hideDense(denseEnd - length, length)
  for (let length = SHORTEST_BEGINNING; length <= LONGEST_WORD; length += 1) {
    const start = text.slice(Math.max(0, end - length), end)
    if (length <= end && beginningsOfWords.has(start) && isWholeWord(text, end - length, start))
      hide.hideWord(end - length, length)
  }
}

function endOf(text: string): number {
  return text.endsWith('…') ? text.length - 1 : text.length
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

const LETTER = /[\p{L}\p{N}]/u

function joins(outside: string | undefined, inside: string | undefined): boolean {
  return outside !== undefined && inside !== undefined && LETTER.test(outside) && LETTER.test(inside)
}

function isWholeWord(text: string, at: number, word: string): boolean {
  return !joins(text[at - 1], word[0]) && !joins(text[at + word.length], word.at(-1))
}
