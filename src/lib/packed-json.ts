/**
 * JSON whose texts and numbers stand apart from its shape: keys, brackets, `true`, `false` and `null`. Bodies of one kind
 * are of few shapes, so that who keeps many can keep each shape once.
 */
export interface PackedJson {
  /** JSON with {@link GAP} where a value was. */
  readonly shape: string
  /** In their order, with {@link GAP} between; texts as JSON escapes them, without their quotes. */
  readonly values: string
}

/** JSON escapes it, so that it stands nowhere in one. */
const GAP = '\u0001'

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** @param json as `JSON.stringify` writes it: without spaces */
export function packJson(json: string): PackedJson {
  const shape: string[] = []
  const values: string[] = []
  let from = 0
  for (let at = 0; at < json.length; at += 1) {
    const isText = json.charCodeAt(at) === QUOTE
    if (!isText && !startsNumber(json.charCodeAt(at))) continue
    const start = isText ? at + 1 : at
    const end = isText ? endOfText(json, start) : endOfNumber(json, start)
    const isKey = isText && json[end + 1] === ':'
    if (!isKey) {
      values.push(json.slice(start, end))
      shape.push(json.slice(from, start))
      from = end
    }
    at = isText ? end : end - 1
  }
  shape.push(json.slice(from))
  return { shape: shape.join(GAP), values: values.join(GAP) }
}

/** The very text that was packed. */
export function unpackJson({ shape, values }: PackedJson): string {
  const parts = shape.split(GAP)
  const between = values.split(GAP)
  let json = parts[0] ?? ''
  for (let at = 1; at < parts.length; at += 1) json += `${between[at - 1]}${parts[at]}`
  return json
}

function startsNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d
}

function endOfNumber(json: string, start: number): number {
  let end = start + 1
  while (end < json.length && !',]}'.includes(json.charAt(end))) end += 1
  return end
}

/** Of the quote that ends a text. */
function endOfText(json: string, start: number): number {
  let end = start
  while (json.charCodeAt(end) !== QUOTE) end += json.charCodeAt(end) === BACKSLASH ? 2 : 1
  return end
}
