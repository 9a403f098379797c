import type { SecretRef } from '../kinds/secret-ref.ts'
import type { Secret } from '../lib/secret.ts'
import { missingSecretSteps, missingSecretWords, type MissingSecret } from '../plan/reasons/missing-secret.ts'
import { proseOf } from '../plan/step.ts'

/** Has no `Error` as a member, because the message of an error could quote the secret. */
export type SecretReading =
  | { readonly found: true; readonly value: Secret }
  | ({ readonly found: false; readonly why: Exclude<MissingSecret['why'], 'malformed'> } & Pick<
      MissingSecret,
      'file' | 'misplaced'
    >)

/** `platform`: the secret is in `--credentials-dir`. `source`: in `--secrets-dir`. */
type SecretOwner = 'platform' | 'source'

/** Reads the file `<name>/<key>` in the owner's directory. Kubernetes can replace it at any time. */
export interface SecretStore {
  read(ref: SecretRef['secretRef'], owner: SecretOwner): SecretReading | Promise<SecretReading>
}

export class SecretUnavailableError extends Error {
  readonly missing: MissingSecret

  constructor(missing: MissingSecret) {
    super(`${missingSecretWords([missing])} ${proseOf(missingSecretSteps([missing]))}`)
    this.name = 'SecretUnavailableError'
    this.missing = missing
  }
}
