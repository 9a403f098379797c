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

/** A file with credentials of the platform that was looked for in vain. */
export interface MissingCredential {
  readonly file: string
  readonly why: 'absent' | 'unreadable' | 'empty' | 'malformed'
  /** The API key of a Service, or the one token for alerts. */
  readonly of: 'API key' | 'alerts token'
}

const WHY = {
  absent: 'is missing',
  unreadable: 'cannot be read: it must be a text file of at most 64 KiB',
  empty: 'is empty',
  malformed: 'does not hold one token: it has spaces, line breaks or non-ASCII characters',
} as const

const WAY_OUT = {
  'API key': 'Mount the secret there, or correct credentials.secretRef in the Service manifest.',
  'alerts token': 'Put the token for alerts there, or set --alerts-token-file.',
} as const

/** A request was not sent, because the platform's own credentials cannot be read. Never holds content. */
export class SecretUnavailableError extends Error {
  readonly missing: MissingCredential

  constructor(missing: MissingCredential) {
    super(`The file ${missing.file} ${WHY[missing.why]}. ${WAY_OUT[missing.of]}`)
    this.name = 'SecretUnavailableError'
    this.missing = missing
  }
}
