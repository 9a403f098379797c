import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { isSensitiveName, NAMING_FIELDS, readsLikeName, withoutUrlSecrets } from '../lib/sensitive.ts'
import type { MaskedText, SecretMask } from '../lib/mask/secret-mask.ts'
import { asSecretRef } from './secret-ref.ts'

export const SENSITIVE = '[sensitive]'

/** Levels of nesting. Deeper parts of a reply are hidden, to limit the recursion. */
const DEEPEST = 64

/** Sensitive values become `[sensitive]`, secret references `[secret NAME/KEY]`. */
export function maskSensitive(body: JsonObject): JsonObject {
  return maskObject(body, 'open', 0)
}

/** Sensitive values become `[sensitive]`. Secret references stay. */
export function maskManifest(manifest: JsonObject): JsonObject {
  return maskObject(manifest, 'open references', 0)
}

export function maskText(text: string): string {
  return withoutUrlSecrets(text, SENSITIVE)
}

/** `closed`: inside a field with a sensitive name, so values are masked. `references`: secret references stay. */
type Mode = 'open' | 'closed' | 'open references' | 'closed references'

const CLOSED: Readonly<Record<Mode, Mode>> = {
  open: 'closed',
  closed: 'closed',
  'open references': 'closed references',
  'closed references': 'closed references',
}

function maskObject(value: JsonObject, mode: Mode, depth: number): JsonObject {
  return Object.fromEntries(
    Object.keys(value)
      .filter((name) => value[name] !== undefined)
      .map((name) => [
        name,
        maskValue(value[name] ?? null, isSensitiveName(name) ? CLOSED[mode] : mode, depth + 1),
      ]),
  )
}

function maskValue(value: Json, mode: Mode, depth: number): Json {
  if (value === null) return null
  const isClosed = CLOSED[mode] === mode
  if (typeof value === 'string') return isClosed ? SENSITIVE : maskText(value)
  if (typeof value !== 'object') return isClosed ? SENSITIVE : value
  if (mode.endsWith('references') && isReference(value)) return value
  const ref = asSecretRef(value)
  if (ref !== undefined) return `[secret ${ref.name}/${ref.key}]`
  if (depth >= DEEPEST) return '[nested too deep]'
  if (isObject(value)) return maskObject(value, mode, depth)
  return value.map((item) => maskValue(item, mode, depth + 1))
}

function isReference(value: Json): boolean {
  if (!isObject(value) || Object.keys(value).length !== 1 || !isObject(value['secretRef'])) return false
  return Object.entries(value['secretRef']).every(
    ([name, inner]) => (name === 'name' || name === 'key') && typeof inner === 'string',
  )
}

export function sensitiveTexts(body: JsonObject): readonly string[] {
  return Object.entries(body).flatMap(([name, value]) =>
    value === undefined ? [] : sensitiveIn(name, value),
  )
}

function sensitiveIn(name: string, value: Json): readonly string[] {
  if (typeof value === 'string') {
    // Masking a plain user name such as "admin" would hide that word in other texts.
    const isPlainUserName = NAMING_FIELDS.has(name) && readsLikeName(value)
    return isSensitiveName(name) && !isPlainUserName ? [value] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return isObject(value) ? sensitiveTexts(value) : value.flatMap((item) => sensitiveIn(name, item))
}

/** Masks a reply's texts, except those visible in the manifest. @param asked the manifest's body */
export function replyMask(
  { mask }: Pick<SecretMask, 'mask'>,
  asked: JsonObject | undefined,
): SecretMask['mask'] {
  let open: ReadonlySet<string> | undefined
  return (text) => {
    const shown = mask(text)
    if (shown === text) return shown
    open ??= new Set(asked === undefined ? [] : openTexts(asked))
    return open.has(text) ? (text as MaskedText) : shown // visible in the manifest
  }
}

function openTexts(body: JsonObject): readonly string[] {
  return Object.entries(body).flatMap(([name, value]) =>
    value === undefined || isSensitiveName(name) ? [] : openTextsIn(value),
  )
}

function openTextsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return isObject(value) ? openTexts(value) : value.flatMap(openTextsIn)
}

/** Characters. For longer texts, only the length is shown: masking would block the event loop. */
const MAX_SHOWN_TEXT = 64 * 1024

/** Characters of JSON. For a longer reply, only id, name and state are shown. */
const MAX_SHOWN_REPLY = 1024 * 1024

/**
 * Keeps the reply as JSON text, because objects would take many times the memory.
 * @returns a function that masks the text when it is called, because most replies are never shown
 */
export function shownReply(reply: JsonObject, mask: SecretMask['mask']): () => string {
  const text = JSON.stringify(reply)
  const kept = text.length <= MAX_SHOWN_REPLY ? text : JSON.stringify(shortened(reply))
  return () => {
    const short = textsBelow(JSON.parse(kept) as JsonObject, withoutLong, 0) // the text of an object
    return JSON.stringify(maskTexts(maskSensitive(short), mask))
  }
}

function shortened(reply: JsonObject): JsonObject {
  const short = textsBelow(reply, withoutLong, 0)
  if (JSON.stringify(short).length <= MAX_SHOWN_REPLY) return short
  const { id = null, name = null, state = null } = short
  return { id, name, state }
}

function withoutLong(text: string): string {
  return text.length > MAX_SHOWN_TEXT ? `[text of ${text.length} characters]` : text
}

export function maskTexts(body: JsonObject, mask: SecretMask['mask']): JsonObject {
  return textsBelow(body, mask, 0)
}

function textsBelow<T extends Json>(value: T, shown: (text: string) => string, depth: number): T
function textsBelow(value: Json, shown: (text: string) => string, depth: number): Json {
  if (typeof value === 'string') return shown(value)
  if (typeof value !== 'object' || value === null || depth >= DEEPEST) return value
  if (!isObject(value)) return value.map((item) => textsBelow(item, shown, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      inner === undefined ? undefined : textsBelow(inner, shown, depth + 1),
    ]),
  )
}
