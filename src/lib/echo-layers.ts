/*
 * The forms in which a text can be read: as it stands, with its escapes undone (of URLs, of HTML, of JSON), with what looks like
 * base64 decoded, and both again. Each knows for every character where it stands in the text itself.
 */

export interface Layer {
  /** In lower case. */
  readonly text: string
  /** The same without white space, what cannot be seen, and backslashes; base64url is written as base64. */
  readonly dense: string
  /** Of each character of `dense`, the place in `text`. */
  readonly places: Uint32Array
  /** The place in the text itself where the character at a place of `text` begins. */
  start(at: number): number
  /** Where it ends: the place behind it. */
  end(at: number): number
  /** Whether it was decoded from what may have been something else: what is short stands in it by chance. */
  readonly isGuess: boolean
}

/** A form that is not yet folded. */
interface Reading {
  readonly text: string
  readonly start: (at: number) => number
  readonly end: (at: number) => number
  readonly isGuess: boolean
}

/** So often something is encoded on top of something else. */
const DEEPEST = 3

/** All forms, the text as it stands first. */
export function layersOf(text: string): readonly [Layer, ...Layer[]] {
  const first: Reading = { text, start: (at) => at, end: (at) => at + 1, isGuess: false }
  const layers: [Layer, ...Layer[]] = [layerOf(first)]
  let readings: readonly Reading[] = [first]
  for (let depth = 0; depth < DEEPEST && readings.length > 0; depth += 1) {
    readings = readings.flatMap((reading) => [
      ...unescaped(reading),
      ...(depth < DEEPEST - 1 ? decoded(reading) : []),
    ])
    layers.push(...readings.map(layerOf))
  }
  return layers
}

function layerOf({ text: written, start, end, isGuess }: Reading): Layer {
  const text = fold(written)
  const { dense, places } = squeezed(text)
  return { text, dense: dense.replaceAll('-', '+').replaceAll('_', '/'), places, start, end, isGuess }
}

/** `%2B`, with more bytes for other letters; `&#43;`, `&#x2b;`, `&amp;`; `\u002b`, `\x2b`, `\n`, with any number of backslashes. */
const ESCAPE =
  /%[2-7][0-9a-f]|%0[0-9a-f]|(?:%[c-f][0-9a-f](?:%[89ab][0-9a-f])+)|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos);|\\+(?:u[0-9a-f]{4}|x[0-9a-f]{2}|[nrtbfv])/gi

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text with its escapes undone once; nothing where it has none. */
function unescaped({ text, start, end, isGuess }: Reading): readonly Reading[] {
  let plain = ''
  const starts: number[] = []
  const ends: number[] = []
  /** The end is not part of it. */
  function copy(from: number, to: number): void {
    for (let at = from; at < to; at += 1) starts[plain.length + at - from] = start(at)
    for (let at = from; at < to; at += 1) ends[plain.length + at - from] = end(at)
    plain += text.slice(from, to)
  }
  function put(meaning: string, from: number, to: number): void {
    for (let at = 0; at < meaning.length; at += 1) starts[plain.length + at] = start(from)
    for (let at = 0; at < meaning.length; at += 1) ends[plain.length + at] = end(to - 1)
    plain += meaning
  }
  let done = 0
  for (const { 0: escape, index } of text.matchAll(ESCAPE)) {
    copy(done, index)
    done = index + escape.length
    put(meaningOf(escape), index, done)
  }
  if (done === 0) return []
  copy(done, text.length)
  return [{ text: plain, start: (at) => starts[at] ?? 0, end: (at) => ends[at] ?? 0, isGuess }]
}

function meaningOf(escape: string): string {
  if (escape.startsWith('%')) return Buffer.from(escape.replaceAll('%', ''), 'hex').toString('utf8')
  if (escape.startsWith('&')) {
    const name = escape.slice(1, -1).toLowerCase()
    if (!name.startsWith('#')) return NAMED[name] ?? ''
    return character(name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1)))
  }
  const word = escape.replace(/^\\+/, '')
  return word.length === 1 ? ' ' : String.fromCharCode(Number.parseInt(word.slice(1), 16))
}

function character(code: number): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : ' '
}

/** What may be base64, with line breaks in it: long enough to hold eight bytes. */
const RUN = /[\w+/-]{11,}/g

/** What nobody encoded is no text when it is decoded. */
// eslint-disable-next-line no-control-regex -- two bytes a letter have them
const READS_AS_TEXT = /[\t\n\r\0 -~]{8}/

/** What stands in base64, from each of the four places where it may begin. */
function decoded({ text, start, end }: Reading): readonly Reading[] {
  const { dense, places } = squeezed(text)
  return [...dense.matchAll(RUN)].flatMap(({ 0: run, index }) =>
    [0, 1, 2, 3].flatMap((shift) => {
      const inside = Buffer.from(run.slice(shift), 'base64url').toString('latin1')
      if (!READS_AS_TEXT.test(inside)) return []
      /** The first of the two characters that hold most of a byte. */
      const placeOf = (byte: number) => index + shift + Math.floor((byte * 4) / 3)
      return [
        {
          text: inside,
          start: (byte: number) => start(places[placeOf(byte)] ?? 0),
          end: (byte: number) => end(places[placeOf(byte) + 1] ?? 0),
          isGuess: true,
        },
      ]
    }),
  )
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
function squeezed(text: string): { readonly dense: string; readonly places: Uint32Array } {
  const places = new Uint32Array(text.length)
  let dense = ''
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    const isPlain = code > 0x20 && code < 0x7f && code !== 0x5c
    if (!isPlain && SQUEEZED_OUT.test(text.charAt(at))) continue
    places[dense.length] = at
    dense += text.charAt(at)
  }
  return { dense, places }
}
