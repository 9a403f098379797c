import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { isSensitiveName, NAMING_FIELDS, readsLikeName, withoutUrlSecrets } from '../lib/sensitive.ts'
import type { MaskedText, SecretMask } from '../lib/mask/secret-mask.ts'
import { asSecretRef } from './secret-ref.ts'

export const SENSITIVE = '[sensitive]'

/** Levels of nesting. Deeper parts of a reply are hidden, to limit the recursion. */
const DEEPEST = 64

/** Sensitive values become `[sensitive]`, secret references `[secret NAME/KEY]`. */
export function maskSensitive(body: JsonObject): JsonObject {
  return maskObject(body, { isClosed: false, keepsReferences: false }, 0)
}

/** Sensitive values become `[sensitive]`. Secret references stay. */
export function maskManifest(manifest: JsonObject): JsonObject {
  return maskObject(manifest, { isClosed: false, keepsReferences: true }, 0)
}

export function maskText(text: string): string {
  return withoutUrlSecrets(text, SENSITIVE)
}

interface Mode {
  /** Inside a field with a sensitive name, so values are masked. */
  readonly isClosed: boolean
  readonly keepsReferences: boolean
}

function maskObject(value: JsonObject, mode: Mode, depth: number): JsonObject {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      inner === undefined
        ? []
        : [[name, maskValue(inner, isSensitiveName(name) ? { ...mode, isClosed: true } : mode, depth + 1)]],
    ),
  )
}

function maskValue(value: Json, mode: Mode, depth: number): Json {
  if (value === null) return null
  if (typeof value !== 'object' && mode.isClosed) return SENSITIVE
  if (typeof value === 'string') return maskText(value)
  if (typeof value !== 'object') return value
  if (mode.keepsReferences && isReference(value)) return value
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
  return (
    namedTexts(body)
      .filter(([name]) => isSensitiveName(name))
      // Masking a plain user name such as "admin" would hide that word in other texts.
      .filter(([name, text]) => !NAMING_FIELDS.has(name) || !readsLikeName(text))
      .map(([, text]) => text)
      .toArray()
  )
}

/** Each text, with the name of its field. */
function* namedTexts(value: Json | undefined, name = ''): Generator<readonly [name: string, text: string]> {
  if (typeof value === 'string') yield [name, value]
  else if (isObject(value)) for (const [inner, item] of Object.entries(value)) yield* namedTexts(item, inner)
  else if (Array.isArray(value)) for (const item of value) yield* namedTexts(item as Json, name)
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
    open ??= new Set(namedTexts(asked && maskSensitive(asked)).map(([, visible]) => visible))
    return open.has(text) ? (text as MaskedText) : shown // visible in the manifest
  }
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
