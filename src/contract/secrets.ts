import type { SecretRef } from '../kinds/secret-ref.ts'
import { MORE_FILES } from '../lib/open-files.ts'
import type { Secret } from '../lib/secret.ts'
import { misplacedWords, missingSecretWords, type MissingSecret } from '../plan/reasons/missing-secret.ts'

/** Holds no error, which could carry content. */
export type SecretReading =
  | { readonly found: true; readonly value: Secret }
  | ({ readonly found: false; readonly why: Exclude<MissingSecret['why'], 'malformed'> } & Pick<
      MissingSecret,
      'file' | 'misplaced'
    >)

/** Decides the directory: `--credentials-dir` or `--secrets-dir`. Manifests cannot change it. */
type SecretOwner = 'platform' | 'source'

/** Mounted secrets: the file `<name>/<key>` in the owner's directory. Kubernetes can swap them. */
export interface SecretStore {
  /** Returns no promise if the secret was read recently. */
  read(ref: SecretRef['secretRef'], owner: SecretOwner): SecretReading | Promise<SecretReading>
}

export interface MissingCredential extends MissingSecret {
  /** Key of a Service, or token for alerts. */
  readonly of: 'API key' | 'alerts token'
}

const WHY = {
  absent: 'is missing',
  unreadable: 'cannot be read: it must be a text file of at most 64 KiB',
  empty: 'is empty',
  malformed: 'does not hold one token: it has spaces, line breaks or non-ASCII characters',
  'no descriptor': 'was not read',
  linked: 'is a link into --secrets-dir, where manifests could name it',
  credential: 'is a credential of the platform',
} as const

const WAY_OUT = {
  'API key': 'Mount the secret there, or correct credentials.secretRef in the Service manifest.',
  'alerts token': 'Put the token for alerts there, or set --alerts-token-file.',
} as const

function wordsOf({ file, why, of, misplaced }: MissingCredential): string {
  if (why === 'no descriptor') return `${missingSecretWords([{ file, why }])} ${MORE_FILES}`
  return misplaced === undefined
    ? `The file ${file} ${WHY[why]}. ${WAY_OUT[of]}`
    : misplacedWords(file, misplaced)
}

/** No request was sent. Holds no content. */
export class SecretUnavailableError extends Error {
  readonly missing: MissingCredential

  constructor(missing: MissingCredential) {
    super(wordsOf(missing))
    this.name = 'SecretUnavailableError'
    this.missing = missing
  }
}
