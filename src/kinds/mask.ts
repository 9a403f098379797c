import { isObject } from '../lib/json.ts'
import type { Json, JsonObject } from '../lib/json.ts'
import { asSecretRef } from './secret-ref.ts'
import { isSensitiveName } from './sensitive-names.ts'

export const SENSITIVE = '[sensitive]'

/** User and password of a URL, and the values of query parameters that sign or open something. */
const USER_INFO = /(:\/\/)[^/?#\s@:]*:[^/?#\s]*@/g
const SIGNATURE = /([?&;](?:[^=&;?\s]*(?:sig|signature|token|secret|password|credential|key))=)[^&;\s]+/gi

/** A reply may be nested deeper than any stack. */
const DEEPEST = 64

/** A body as it may be shown: sensitive values as `[sensitive]`, references as `[secret NAME/KEY]`. */
export function maskSensitive(body: JsonObject): JsonObject {
  return maskObject(body, 'open', 0)
}

/** A text that is not sensitive by its name, without the password or signature that a URL may carry. */
export function maskText(text: string): string {
  if (!text.includes('=') && !text.includes('://')) return text
  return text.replaceAll(USER_INFO, `$1${SENSITIVE}@`).replaceAll(SIGNATURE, `$1${SENSITIVE}`)
}

/** `closed` below a sensitive name: names and references stay, values do not. */
type Mode = 'open' | 'closed'

function maskObject(value: JsonObject, mode: Mode, depth: number): JsonObject {
  return Object.fromEntries(
    Object.keys(value)
      .filter((name) => value[name] !== undefined)
      .map((name) => [
        name,
        maskValue(value[name] ?? null, isSensitiveName(name) ? 'closed' : mode, depth + 1),
      ]),
  )
}

function maskValue(value: Json, mode: Mode, depth: number): Json {
  if (value === null) return null
  if (typeof value === 'string') return mode === 'closed' ? SENSITIVE : maskText(value)
  if (typeof value !== 'object') return mode === 'closed' ? SENSITIVE : value
  const ref = asSecretRef(value)
  if (ref !== undefined) return `[secret ${ref.name}/${ref.key}]`
  if (depth >= DEEPEST) return '[nested too deep]'
  if (isObject(value)) return maskObject(value, mode, depth)
  return value.map((item) => maskValue(item, mode, depth + 1))
}
