import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { isSensitiveName, NAMING_FIELDS, readsLikeName, withoutUrlSecrets } from '../lib/sensitive.ts'
import type { Echo, EchoMask } from '../lib/echo.ts'
import type { Secret } from '../lib/secret.ts'
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

/**
 * What was sent in a JSON body under the names of sensitive fields, so that it can be masked when it comes back; all of it when
 * it is not JSON. A name that a manifest writes out and that reads like one, such as "admin", is none: it would be masked
 * inside the words of the platform.
 * @param referenced what mounted secrets held
 */
export function sensitiveTexts(body: string, referenced: ReadonlySet<string>): readonly Echo[] {
  const echoes: Echo[] = []
  try {
    // The reviver sees every member; what it returns is not used.
    JSON.parse(body, (name, value: unknown) => {
      if (typeof value === 'string' && isSensitiveName(name)) echoes.push(...echoOf(name, value, referenced))
      return value
    })
    return echoes
  } catch {
    // Not passed on: the error of a parser quotes the text.
    return [...referenced, body]
  }
}

function echoOf(name: string, value: string, referenced: ReadonlySet<string>): readonly Echo[] {
  if (!NAMING_FIELDS.has(name)) return [value]
  if (!readsLikeName(value)) return [value]
  return referenced.has(value) ? [{ wholeWord: value }] : []
}

/** What mounted secrets held, so that it can be masked when it comes back. @param sent by the dotted path of the reference */
export function referenceEchoes(sent: ReadonlyMap<string, Secret>): readonly Echo[] {
  return [...sent].flatMap(([path, secret]) => {
    const value = secret.reveal()
    return echoOf(path.slice(path.lastIndexOf('.') + 1), value, new Set([value]))
  })
}

/** The texts of a body that are shown wherever it is. */
export function openTexts(body: JsonObject): readonly string[] {
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
export function maskEchoes(body: JsonObject, echoes: EchoMask): JsonObject {
  return echoesBelow(body, echoes, 0)
}

function echoesBelow<T extends Json>(value: T, echoes: EchoMask, depth: number): T
function echoesBelow(value: Json, echoes: EchoMask, depth: number): Json {
  if (typeof value === 'string') return echoes(value)
  if (typeof value !== 'object' || value === null || depth >= DEEPEST) return value
  if (!isObject(value)) return value.map((item) => echoesBelow(item, echoes, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      inner === undefined ? undefined : echoesBelow(inner, echoes, depth + 1),
    ]),
  )
}
