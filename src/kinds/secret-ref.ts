import { z } from './zod.ts'

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
  // most values are none, and are told without zod
  if (typeof value !== 'object' || value === null || !('secretRef' in value)) return undefined
  return SecretRef.safeParse(value).data?.secretRef
}

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

/** What was sent in a JSON body under the names of sensitive fields; all of it when it is not JSON. */
export function sensitiveTexts(body: string): readonly string[] {
  const texts: string[] = []
  try {
    // The reviver sees every member; what it returns is not used.
    JSON.parse(body, (name, value: unknown) => {
      if (SENSITIVE_FIELDS.has(name) && typeof value === 'string') texts.push(value)
      return value
    })
    return texts
  } catch {
    // Not passed on: the error of a parser quotes the text.
    return [body]
  }
}
