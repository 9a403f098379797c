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
