import type { SecretRef } from '../kinds/secret-ref.ts'
import type { Secret } from '../lib/secret.ts'
import { missingSecretSteps, missingSecretWords, type MissingSecret } from '../plan/reasons/requests.ts'
import { proseOf } from '../plan/step.ts'

/** Has no `Error` as a member, because the message of an error could quote the secret. */
export type SecretReading =
  | { readonly found: true; readonly value: Secret }
  | ({ readonly found: false; readonly why: Exclude<MissingSecret['why'], 'malformed'> } & Pick<
      MissingSecret,
      'file' | 'misplaced'
    >)

/**
 * Reads the file `<name>/<key>`. Kubernetes can replace it at any time.
 * - `platform`: the file is in `--credentials-dir`.
 * - `source`: the file is in `--secrets-dir`.
 */
export interface SecretStore {
  read(ref: SecretRef['secretRef'], owner: 'platform' | 'source'): Promise<SecretReading>
}

export class SecretUnavailableError extends Error {
  readonly missing: MissingSecret

  constructor(missing: MissingSecret) {
    super(`${missingSecretWords([missing])} ${proseOf(missingSecretSteps([missing]))}`)
    this.name = 'SecretUnavailableError'
    this.missing = missing
  }
}
