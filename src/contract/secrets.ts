import type { SecretRef } from '../kinds/secret-ref.ts'
import type { Secret } from '../lib/secret.ts'
import { missingSecretSteps, missingSecretWords, type MissingSecret } from '../plan/reasons/missing-secret.ts'
import { proseOf } from '../plan/step.ts'

/** Holds no error, which could carry content. */
export type SecretReading =
  | { readonly found: true; readonly value: Secret }
  | ({ readonly found: false; readonly why: Exclude<MissingSecret['why'], 'malformed'> } & Pick<
      MissingSecret,
      'file' | 'misplaced'
    >)

/** Decides the directory: `--credentials-dir` or `--secrets-dir`. */
type SecretOwner = 'platform' | 'source'

/** Mounted secrets: the file `<name>/<key>` in the owner's directory. Kubernetes can swap them. */
export interface SecretStore {
  /** Returns no promise if the secret was read recently. */
  read(ref: SecretRef['secretRef'], owner: SecretOwner): SecretReading | Promise<SecretReading>
}

/** No request was sent. Holds no content. */
export class SecretUnavailableError extends Error {
  readonly missing: MissingSecret

  constructor(missing: MissingSecret) {
    super(`${missingSecretWords([missing])} ${proseOf(missingSecretSteps([missing]))}`)
    this.name = 'SecretUnavailableError'
    this.missing = missing
  }
}
