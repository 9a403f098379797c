import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { asSecretRef } from './secret-ref.ts'

export const SENSITIVE = '[sensitive]'

/** User and password of a URL, and the values of query parameters that sign or open something. */
const USER_INFO = /(:\/\/)[^/?#\s@:]*:[^/?#\s]*@/g
const SIGNATURE = /([?&;](?:[^=&;?\s]*(?:sig|signature|token|secret|password|credential|key))=)[^&;\s]+/gi

/** A user alone, and user and password without a scheme before them: only wrong manifests have these. */
const USER = /(\/\/)[^/?#\s]*@/g
const BARE_USER_INFO = /(^|[\s"'[{(,=])[^\s"'[{(,=/@:]{1,256}:[^\s/@]{1,256}@/g

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

/** The same of a text that may be wrong, such as a line of a manifest and what a finding repeats of it. @param mask takes the place */
export function maskWrongText(text: string, mask: string): string {
  const masked = withoutUrlSecrets(text, mask)
  if (!masked.includes('@')) return masked
  return masked.replaceAll(USER, `$1${mask}@`).replaceAll(BARE_USER_INFO, `$1${mask}@`)
}

function withoutUrlSecrets(text: string, mask: string): string {
  if (!text.includes('=') && !text.includes('://')) return text
  return text.replaceAll(USER_INFO, `$1${mask}@`).replaceAll(SIGNATURE, `$1${mask}`)
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

/*
 * What is kept from every output by its name, listed in this one place: whatever masks something asks here.
 */

/** Fields that take a reference and nothing else. */
export const SECRET_FIELDS: ReadonlySet<string> = new Set(['password', 'secretKey'])

/** Fields that may be written out, and are kept from every output all the same. */
export const SENSITIVE_FIELDS: ReadonlySet<string> = new Set([
  ...SECRET_FIELDS,
  'username',
  'accessKeyId',
  'connectionString',
  'caCertificate',
])

/** Names under which a secret may stand, in a manifest, a mounted secret or a request. */
export const SENSITIVE_NAMES: readonly string[] = [...SENSITIVE_FIELDS, 'keySecret', 'token', 'authorization']

/** What is sensitive wherever it stands in a name. No honest reply has such names; a platform may echo what it should not. */
const TELLING_PART =
  /pass(?:w|phrase)|pwd|secret|token|connection[-_]?string|(?:access|api|private)[-_]?key|user[-_]?name|certificate|credential|key[-_]?id$|jaas|bearer|authorization/i

/** Names that look sensitive and are not: ids of API keys. */
const HARMLESS: ReadonlySet<string> = new Set(['openapikeys'])

/** Whether a field's value is kept from every output, by its name. */
export function isSensitiveName(name: string): boolean {
  return SENSITIVE_FIELDS.has(name) || (TELLING_PART.test(name) && !HARMLESS.has(name.toLowerCase()))
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
