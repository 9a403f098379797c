import { isObject, valueAt } from './json.ts'
import type { SecretMask } from './mask/secret-mask.ts'
import { UUID, withoutAssignments, withoutUrlSecrets } from './sensitive.ts'

/** UTF-8 bytes: enough for a list of errors, and small enough for a ledger record. */
const LONGEST = 2_048

/** Characters that are masked and cleaned. More than `LONGEST`, because cleaning can shorten the text. */
const LOOKED_AT = 16_384

/** Characters. Parsing more would block the process for over 50 ms. */
const MAX_PARSED = 1024 * 1024

const MASK = '[secret]'

/**
 * Shows a reply's body as one line of at most 2 KB, without control characters and known secrets.
 * The text is masked before it is cut, because the mask does not recognize half a secret.
 * @param texts `hidden` if the body can be a resource, whose unknown fields can hold secrets
 */
export function excerptOf(
  body: string,
  { mask }: Pick<SecretMask, 'mask'>,
  texts: 'shown' | 'hidden' = 'shown',
): string {
  if (body.length > MAX_PARSED) return `a text of ${body.length} characters`
  const said = mask(wordsOf(body, texts))
    .slice(0, LOOKED_AT)
    .replace(/[\p{C}\s]+/gu, ' ')
  const text = withoutAssignments(withoutUrlSecrets(said, MASK), MASK, 'shown')
    .replace(/\/\/[^\s/@]+@/g, `//${MASK}@`)
    .toWellFormed()
    .trim()
  return cutToBytes(text)
}

export function excerptOfId(id: string, { mask }: Pick<SecretMask, 'mask'>): string {
  const text = mask(id).replaceAll(/[\p{C}\p{Z}]/gu, ' ')
  return text.replace(/^(.{64}).+/su, '$1…')
}

function cutToBytes(text: string): string {
  const fitting = (bytes: number) =>
    text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read)
  return fitting(LONGEST) === text ? text : `${fitting(LONGEST - 3)}…`
}

function wordsOf(body: string, texts: 'shown' | 'hidden'): string {
  const text = body.trimStart()
  if (text.startsWith('<')) {
    const title = /<title[^<>]*>([^<]*)<\/title>/i.exec(text)?.[1]?.trim()
    return title ? `an HTML page titled “${title}”` : 'an HTML page'
  }
  try {
    const json: unknown = JSON.parse(text)
    // Serialized again, because the mask knows how `JSON.stringify` escapes a secret.
    const isHidden = texts === 'hidden' || isObject(valueAt(json, 'result'))
    return messageOf(json) ?? JSON.stringify(json, isHidden ? hideText : undefined)
  } catch {
    return texts === 'hidden' && /^[{["]/.test(text) ? `unreadable JSON of ${text.length} characters` : text
  }
}

function hideText(_name: string, value: unknown): unknown {
  return typeof value === 'string' && !UUID.test(value) ? `[text of ${value.length} characters]` : value
}

function messageOf(json: unknown): string | undefined {
  if (!isObject(json)) return undefined
  for (const name of ['message', 'error', 'detail', 'title']) {
    const value = json[name]
    if (typeof value === 'string' && value !== '') return value
    const inner = valueAt(value, 'message')
    if (typeof inner === 'string' && inner !== '') return inner
  }
  return undefined
}
