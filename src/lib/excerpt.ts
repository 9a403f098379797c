import { isObject } from './json.ts'
import type { SecretMask } from './mask/secret-mask.ts'
import { withoutAssignments, withoutUrlSecrets } from './sensitive.ts'

/** Longest excerpt of a reply in a message, in bytes of UTF-8: enough for every violation that a platform lists, and little enough for a ledger. */
const LONGEST = 2_048

/** As much of a reply is looked at: a mask may shorten what stands before. In characters. */
const LOOKED_AT = 16_384

/** Masking a longer reply would delay everything else by more than 50 ms. In characters. */
const MAX_EXCERPTED = 1024 * 1024

const MASK = '[secret]'

/**
 * A text of a reply that is fit to be shown: one line, at most 2 KB, no control characters, and no secret that we
 * sent, also when the platform repeats it. Masked before it is cut: half a secret is not recognized. Empty when there is
 * nothing to show.
 */
export function excerptOf(body: string, { mask }: Pick<SecretMask, 'mask'>): string {
  if (body.length > MAX_EXCERPTED) return `a text of ${body.length} characters`
  const said = mask(wordsOf(body))
    .slice(0, LOOKED_AT)
    .replace(/[\p{C}\s]+/gu, ' ')
  const text = withoutAssignments(withoutUrlSecrets(said, MASK), MASK, 'shown')
    .replace(/\/\/[^\s/@]+@/g, `//${MASK}@`)
    .toWellFormed()
    .trim()
  return cutToBytes(text)
}

function cutToBytes(text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(LONGEST))
  if (read === text.length) return text
  const room = new TextEncoder().encodeInto(text, new Uint8Array(LONGEST - 3))
  return `${text.slice(0, room.read)}…`
}

/** The part of a reply that speaks to people. */
function wordsOf(body: string): string {
  const text = body.trimStart()
  if (text.startsWith('<')) {
    const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1]?.trim()
    return title === undefined || title === '' ? 'an HTML page' : `an HTML page titled “${title}”`
  }
  try {
    const json: unknown = JSON.parse(text)
    // Written anew, so that escapes stand as `JSON.stringify` writes them.
    return messageOf(json) ?? JSON.stringify(json)
  } catch {
    return text
  }
}

function messageOf(json: unknown): string | undefined {
  if (!isObject(json)) return undefined
  for (const name of ['message', 'error', 'detail', 'title']) {
    const value = json[name]
    if (typeof value === 'string' && value !== '') return value
    const inner = isObject(value) ? value['message'] : undefined
    if (typeof inner === 'string' && inner !== '') return inner
  }
  return undefined
}
