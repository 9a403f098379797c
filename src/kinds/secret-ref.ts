import { Text, z } from './zod.ts'
import { isObject, type Json, type JsonObject } from '../lib/json.ts'

const SecretName = z
  .string()
  .regex(/^[A-Za-z0-9_][-A-Za-z0-9_.]*$/, 'must be a plain name: letters, digits, ".", "_" and "-"')
  .max(253)

/** Refers to the file `<secrets-dir>/<name>/<key>`. */
export const SecretRef = z.strictObject({
  secretRef: z.strictObject({
    name: SecretName.describe('Name of the mounted secret: a folder in the secrets directory.'),
    key: SecretName.describe('Key of the secret: a file in that folder.'),
  }),
})
export type SecretRef = z.infer<typeof SecretRef>

/** Refers to a mounted secret whose keys have fixed names. */
export const SecretBundleRef = z
  .strictObject({
    secretRef: z.strictObject({
      name: SecretName.describe(
        'Name of the mounted secret, which has the keys `keyId` and `keySecret`: a folder in the credentials directory.',
      ),
    }),
  })
  .meta({ examples: [{ secretRef: { name: 'analytics-api' } }] })
export type SecretBundleRef = z.infer<typeof SecretBundleRef>

function isQuotedReference(text: unknown): boolean {
  return typeof text === 'string' && /^\s*\{?\s*["']?secretRef["']?\s*:\s*\{/.test(text)
}

export const SensitiveText = z.union(
  [
    Text.refine(
      (text) => !isQuotedReference(text),
      'must not be a reference in quotes: Pipewright would send its text instead of the secret',
    ),
    SecretRef,
  ],
  'must be a text or {secretRef: {name, key}}',
)

export const Certificate = SensitiveText.meta({ form: 'certificate' })

export const LoginFields = z
  .strictObject({
    username: SensitiveText.describe('User name.'),
    password: SecretRef.describe('Password, as a reference to a mounted secret.'),
  })
  .meta({ returned: 'never' })

export const UserCredentials = z
  .strictObject({
    username: SensitiveText.optional().describe('User name.'),
    password: SecretRef.optional().describe('Password, as a reference to a mounted secret.'),
  })
  .meta({ returned: 'never' })

export const AccessKey = z
  .strictObject({
    accessKeyId: SensitiveText.optional().describe('Access key id.'),
    secretKey: SecretRef.optional().describe('Secret key, as a reference to a mounted secret.'),
  })
  .meta({ returned: 'never' })

export function isReferenceSchema(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodUnion) return schema.options.some(isReferenceSchema)
  return schema instanceof z.ZodObject && Object.keys(schema.shape).join() === 'secretRef'
}

export function isSecretRef(value: unknown): value is SecretRef {
  return asSecretRef(value) !== undefined
}

export function asSecretRef(value: unknown): SecretRef['secretRef'] | undefined {
  // A fast check first, because zod is slow.
  if (typeof value !== 'object' || value === null || !('secretRef' in value)) return undefined
  return SecretRef.safeParse(value).data?.secretRef
}

interface PlacedRef {
  readonly path: string
  readonly ref: SecretRef['secretRef']
}

export function secretRefsIn(body: JsonObject): readonly PlacedRef[] {
  const refs: PlacedRef[] = []
  replaceRefs(body, '', (path, ref) => {
    refs.push({ path, ref })
    return ''
  })
  return refs.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** The body of a request, with secrets. @param read returns the secret at a path of {@link secretRefsIn} */
export function withSecrets(body: JsonObject, read: (path: string) => string): JsonObject {
  return replaceRefs(body, '', read) as JsonObject // the body is no reference
}

function replaceRefs(
  value: Json,
  path: string,
  replace: (path: string, ref: PlacedRef['ref']) => string,
): Json {
  if (typeof value !== 'object' || value === null) return value
  const ref = asSecretRef(value)
  if (ref !== undefined) return replace(path, ref)
  if (!isObject(value)) return value.map((item, index) => replaceRefs(item, `${path}[${index}]`, replace))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      inner && replaceRefs(inner, path === '' ? name : `${path}.${name}`, replace),
    ]),
  )
}
