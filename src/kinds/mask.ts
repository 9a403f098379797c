import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { isSensitiveName, NAMING_FIELDS, readsLikeName, withoutUrlSecrets } from '../lib/sensitive.ts'
import type { MaskedText, SecretMask } from '../lib/mask/secret-mask.ts'
import { asSecretRef } from './secret-ref.ts'

export const SENSITIVE = '[sensitive]'

/** A reply may be nested deeper than any stack. */
const DEEPEST = 64

/** A body as it may be shown: sensitive values as `[sensitive]`, references as `[secret NAME/KEY]`. */
export function maskSensitive(body: JsonObject): JsonObject {
  return maskObject(body, 'open', 0)
}

/** A manifest as it may be shown: sensitive values as `[sensitive]`, references as they stand in it. */
export function maskManifest(manifest: JsonObject): JsonObject {
  return maskObject(manifest, 'open references', 0)
}

/** A text that is not sensitive by its name, without the password or signature that a URL may carry. */
export function maskText(text: string): string {
  return withoutUrlSecrets(text, SENSITIVE)
}

/** `closed` below a sensitive name: names and references stay, values do not. With `references`, these stay objects. */
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

/** A reference to one key, or to a whole mounted secret: names, and nothing else. */
function isReference(value: Json): boolean {
  if (!isObject(value) || Object.keys(value).length !== 1 || !isObject(value['secretRef'])) return false
  return Object.entries(value['secretRef']).every(
    ([name, inner]) => (name === 'name' || name === 'key') && typeof inner === 'string',
  )
}

/** The texts of a body under sensitive names, except plain names of users. */
export function sensitiveTexts(body: JsonObject): readonly string[] {
  return Object.entries(body).flatMap(([name, value]) =>
    value === undefined ? [] : sensitiveIn(name, value),
  )
}

function sensitiveIn(name: string, value: Json): readonly string[] {
  if (typeof value === 'string') return isSensitiveName(name) && !isPlainUserName(name, value) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return isObject(value) ? sensitiveTexts(value) : value.flatMap((item) => sensitiveIn(name, item))
}

/** Whether a value is the name of a user that people choose, such as "admin": a platform uses such words, too. */
function isPlainUserName(field: string, value: string): boolean {
  return NAMING_FIELDS.has(field) && readsLikeName(value)
}

/** Masks the texts of a reply, except texts that the manifest shows as well. @param asked what the manifest asks for */
export function replyMask(
  { mask }: Pick<SecretMask, 'mask'>,
  asked: JsonObject | undefined,
): SecretMask['mask'] {
  let open: ReadonlySet<string> | undefined
  return (text) => {
    const shown = mask(text)
    if (shown === text) return shown
    open ??= new Set(asked === undefined ? [] : openTexts(asked))
    return open.has(text) ? (text as MaskedText) : shown // the manifest is no secret
  }
}

/** The texts of a body that are shown wherever it is. */
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

/** A body with every text of it masked. */
export function maskTexts(body: JsonObject, mask: SecretMask['mask']): JsonObject {
  return textsBelow(body, mask, 0)
}

function textsBelow<T extends Json>(value: T, mask: SecretMask['mask'], depth: number): T
function textsBelow(value: Json, mask: SecretMask['mask'], depth: number): Json {
  if (typeof value === 'string') return mask(value)
  if (typeof value !== 'object' || value === null || depth >= DEEPEST) return value
  if (!isObject(value)) return value.map((item) => textsBelow(item, mask, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      inner === undefined ? undefined : textsBelow(inner, mask, depth + 1),
    ]),
  )
}
