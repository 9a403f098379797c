import type { SecretRef } from '../kinds/secret-ref.ts'
import type { Secret } from '../lib/secret.ts'

/** A mounted secret, or the file that was looked for in vain. Never an error that could carry content. */
export type SecretReading =
  | { readonly found: true; readonly value: Secret }
  | { readonly found: false; readonly file: string; readonly why: 'absent' | 'unreadable' | 'empty' }

/** Mounted secrets: the file `<secrets-dir>/<name>/<key>`. Read anew each time; Kubernetes swaps them. */
export interface SecretStore {
  read(ref: SecretRef['secretRef']): Promise<SecretReading>
}

/** A request was not sent, because the platform's own credentials cannot be read. Never holds content. */
export class SecretUnavailableError extends Error {
  /** The file that was looked for, in vain. */
  readonly file: string
  readonly why: 'absent' | 'unreadable' | 'empty' | 'malformed'

  constructor(file: string, why: SecretUnavailableError['why'], message: string) {
    super(message)
    this.name = 'SecretUnavailableError'
    this.file = file
    this.why = why
  }
}
