import { z } from './zod.ts'
import { SecretRef } from './secret-ref.ts'

/** A count: a whole number from 0. */
export const Count = z.int().nonnegative()

/** A text that is a URL; wildcards in the path are allowed, as the interface allows them (2.3). It is not sensitive. */
export const Url = z
  .string()
  .refine((text) => URL.canParse(text), 'must be a URL, such as "https://registry.example:8081"')
  .refine(
    (text) => (URL.parse(text)?.password ?? '') === '',
    'must not hold a password: a URL is shown. Use `credentials` with a secretRef',
  )

/** A text that must not be empty. */
export const Text = z.string().min(1)

/** A value that is kept from every output, whether it is written out or referred to. */
export const SensitiveText = z.union([Text, SecretRef], 'must be a text or {secretRef: {name, key}}')

/** A value that may only be referred to. */
export const SecretText = SecretRef

/** A name and a password (2.3, `credentials`). Request only. */
export const UserCredentials = z.strictObject({
  username: SensitiveText.optional().describe('User name.'),
  password: SecretText.optional().describe('Password, as a reference to a mounted secret.'),
})

/** An access key (2.3, `accessKey`). Request only. */
export const AccessKey = z.strictObject({
  accessKeyId: SensitiveText.optional().describe('Access key id.'),
  secretKey: SecretText.optional().describe('Secret key, as a reference to a mounted secret.'),
})
