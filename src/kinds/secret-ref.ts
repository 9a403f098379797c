import { z } from './zod.ts'
import { isObject, type Json, type JsonObject } from '../lib/json.ts'

/** A plain name: of a mounted secret or one of its keys. Never a path. */
const SecretName = z
  .string()
  .regex(/^[A-Za-z0-9_][-A-Za-z0-9_.]*$/, 'must be a plain name: letters, digits, ".", "_" and "-"')
  .max(253)

/** A reference to one key of a mounted secret: the file `<secrets-dir>/<name>/<key>`. */
export const SecretRef = z.strictObject({
  secretRef: z.strictObject({
    name: SecretName.describe('Name of the mounted secret: a folder in the secrets directory.'),
    key: SecretName.describe('Key of the secret: a file in that folder.'),
  }),
})
export type SecretRef = z.infer<typeof SecretRef>

/** A reference to a whole mounted secret, whose keys are fixed by who uses it. */
export const SecretBundleRef = z.strictObject({
  secretRef: z.strictObject({
    name: SecretName.describe('Name of the mounted secret, which has the keys `keyId` and `keySecret`.'),
  }),
})
export type SecretBundleRef = z.infer<typeof SecretBundleRef>

export function isSecretRef(value: unknown): value is SecretRef {
  return asSecretRef(value) !== undefined
}

/** What a value refers to, or `undefined` when it is no reference. */
export function asSecretRef(value: unknown): SecretRef['secretRef'] | undefined {
  // most values are none, which is seen without zod
  if (typeof value !== 'object' || value === null || !('secretRef' in value)) return undefined
  return SecretRef.safeParse(value).data?.secretRef
}

/** Where a body refers to a secret. */
export interface PlacedRef {
  /** Dotted, such as `source.kafka.credentials.password`. */
  readonly path: string
  readonly ref: SecretRef['secretRef']
}

/** Every reference to a secret in a body, in the order of their paths. */
export function secretRefsIn(body: JsonObject): readonly PlacedRef[] {
  const found: PlacedRef[] = []
  addRefs(found, body, [])
  return found.length < 2 ? found : found.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/**
 * Adds to a list of its caller, because this runs at every reconcile of a pipe; so does `steps`, the way to the value, of which
 * mostly no path has to be made.
 */
function addRefs(found: PlacedRef[], value: JsonObject | readonly Json[], steps: (string | number)[]): void {
  if (!isObject(value)) {
    value.forEach((item, index) => addRefsWithin(found, item, steps, index))
    return
  }
  const names = Object.keys(value)
  const ref = names.includes('secretRef') ? asSecretRef(value) : undefined
  if (ref !== undefined) found.push({ path: pathOf(steps), ref })
  else for (const name of names) addRefsWithin(found, value[name], steps, name)
}

function addRefsWithin(
  found: PlacedRef[],
  value: Json | undefined,
  steps: (string | number)[],
  step: string | number,
): void {
  if (typeof value !== 'object' || value === null) return
  steps.push(step)
  addRefs(found, value, steps)
  steps.pop()
}

function pathOf(steps: readonly (string | number)[]): string {
  return steps.reduce<string>((path, step) => pathTo(path, step), '')
}

function pathTo(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`
  return path === '' ? step : `${path}.${step}`
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
    const items = value.map((item, index) => replaceRefs(item, pathTo(path, index), replace))
    return items.every((item) => item === undefined) ? undefined : value.map((item, i) => items[i] ?? item)
  }
  const changes = Object.keys(value).flatMap((name) => {
    const change = replaceRefs(value[name] ?? null, pathTo(path, name), replace)
    return change === undefined ? [] : [[name, change] as const]
  })
  return changes.length === 0 ? undefined : { ...value, ...Object.fromEntries(changes) }
}
