import { isObject } from '../lib/json.ts'
import type { Json, JsonObject } from '../lib/json.ts'
import { asSecretRef } from './secret-ref.ts'
import type { SecretRef } from './secret-ref.ts'

/** Where a body refers to a secret. */
export interface PlacedRef {
  /** Dotted, such as `source.kafka.credentials.password`. */
  readonly path: string
  readonly ref: SecretRef['secretRef']
}

/** Every reference to a secret in a body, in the order of their paths. */
export function secretRefsIn(body: JsonObject): readonly PlacedRef[] {
  const found: PlacedRef[] = []
  replaceRefs(body, '', (path, ref) => {
    found.push({ path, ref })
    return undefined
  })
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/**
 * The body with the text of each secret in place of its reference; what holds none is shared with `body`.
 * The result goes onto the wire and nowhere else.
 * @param read the text for the path that {@link secretRefsIn} gives
 */
export function withSecrets(body: JsonObject, read: (path: string) => string): JsonObject {
  const replaced = replaceRefs(body, '', (path) => read(path))
  return isObject(replaced) ? replaced : body
}

type Replace = (path: string, ref: SecretRef['secretRef']) => string | undefined

/** The value with its references replaced, or `undefined` when there is nothing to replace. */
function replaceRefs(value: Json, path: string, replace: Replace): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const ref = asSecretRef(value)
  if (ref !== undefined) return replace(path, ref)
  if (!isObject(value)) {
    const items = value.map((item, index) => replaceRefs(item, `${path}[${index}]`, replace))
    return items.every((item) => item === undefined) ? undefined : value.map((item, i) => items[i] ?? item)
  }
  const changes = Object.keys(value).flatMap((name) => {
    const change = replaceRefs(value[name] ?? null, path === '' ? name : `${path}.${name}`, replace)
    return change === undefined ? [] : [[name, change] as const]
  })
  return changes.length === 0 ? undefined : { ...value, ...Object.fromEntries(changes) }
}
