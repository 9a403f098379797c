import { isObject } from '../lib/json.ts'
import { isSensitiveName } from '../kinds/sensitive-names.ts'

/** Longest excerpt of a reply in a message, in characters. */
const LONGEST = 200

/** As much of a reply is looked at; the rest could not be shown anyway. In characters. */
const LOOKED_AT = 4_096

/** So many characters in a row that also stand in a secret are a part of it. */
const PART = 8

const MASK = '[secret]'

/**
 * A short text of a reply that is fit to be shown: one line, at most 200 characters, no control characters, and no part
 * of any secret that we sent, also when the platform repeats it. Empty when there is nothing to show.
 */
export function excerptOf(body: string, secrets: readonly string[]): string {
  const text = mask(wordsOf(body).slice(0, LOOKED_AT), secrets)
    .replace(/\/\/[^\s/@]+@/g, `//${MASK}@`)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1).toWellFormed()}…`
}

/** What was sent in a JSON body under the names of sensitive fields; all of it when it is not JSON. */
export function sensitiveTexts(body: string): readonly string[] {
  const texts: string[] = []
  try {
    // The reviver sees every member; what it returns is not used.
    JSON.parse(body, (name, value: unknown) => {
      if (isSensitiveName(name) && typeof value === 'string') texts.push(value)
      return value
    })
    return texts
  } catch {
    // Not passed on: the error of a parser quotes the text.
    return [body]
  }
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
    // Written anew, so that escapes stand as they stand in `formsOf`.
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

/** Puts a mask over whatever also stands in a secret; short secrets only as a whole, or cut off by the end of the text. */
export function mask(text: string, secrets: readonly string[]): string {
  const hidden = new Uint8Array(text.length)
  for (const form of new Set(secrets.flatMap(formsOf))) {
    if (form.length >= PART) hideParts(text, form, hidden)
    else hideWhole(text, form, hidden)
    hideCutEnd(text, form, hidden)
  }
  let shown = ''
  for (let i = 0; i < text.length; i += 1) {
    if (hidden[i] === 0) shown += text[i]
    else if (hidden[i - 1] !== 1) shown += MASK
  }
  return shown
}

/** A secret as it may come back: as it is, inside JSON, inside a URL. */
function formsOf(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())].filter(
    (form) => form !== '',
  )
}

function hideParts(text: string, secret: string, hidden: Uint8Array): void {
  const parts = new Set<string>()
  for (let i = 0; i + PART <= secret.length; i += 1) parts.add(secret.slice(i, i + PART))
  for (let i = 0; i + PART <= text.length; i += 1) {
    if (parts.has(text.slice(i, i + PART))) hidden.fill(1, i, i + PART)
  }
}

function hideWhole(text: string, secret: string, hidden: Uint8Array): void {
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1)) {
    hidden.fill(1, at, at + secret.length)
  }
}

function hideCutEnd(text: string, secret: string, hidden: Uint8Array): void {
  for (let length = Math.min(PART, secret.length) - 1; length >= 3; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) hidden.fill(1, text.length - length)
  }
}
