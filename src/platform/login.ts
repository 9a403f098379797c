import { randomBytes } from 'node:crypto'
import { keyedHash } from '../lib/digest.ts'
import { Secret } from '../lib/secret.ts'
import { type SecretReading, SecretUnavailableError } from '../contract/secrets.ts'
import type { FreshSecrets } from './secret-store.ts'
import { WIRE } from './wire.ts'

export interface Login {
  readonly authorization: Secret
  /** Equal credentials have equal digests in this process. */
  readonly digest: string
  readonly source: string
}

/** Each method throws {@link SecretUnavailableError}. */
export function createCredentials(options: {
  readonly secrets: FreshSecrets
  readonly alertsTokenFile: string
}) {
  const { secrets, alertsTokenFile } = options
  const hashKey = randomBytes(32)

  return {
    async basic(name: string): Promise<Login> {
      const [keyId, keySecret] = await Promise.all([
        secrets.read({ name, key: WIRE.keyIdKey }, 'platform'),
        secrets.read({ name, key: WIRE.keySecretKey }, 'platform'),
      ])
      const pair = `${valueOf(keyId, 'API key').reveal()}:${valueOf(keySecret, 'API key').reveal()}`
      const encoded = Buffer.from(pair, 'utf8').toString('base64')
      secrets.mask.add(encoded)
      return {
        authorization: new Secret(`Basic ${encoded}`),
        digest: keyedHash(hashKey, pair),
        source: `secret ${name} (files ${name}/${WIRE.keyIdKey} and ${name}/${WIRE.keySecretKey} in --credentials-dir)`,
      }
    },
    async bearer(): Promise<Login> {
      const token = valueOf(await secrets.readFile(alertsTokenFile), 'alerts token').reveal()
      // Refused here, because the HTTP client's error would show the token.
      if (!/^[\x21-\x7e]+$/.test(token)) {
        throw new SecretUnavailableError({ file: alertsTokenFile, why: 'malformed', of: 'alerts token' })
      }
      return {
        authorization: new Secret(`Bearer ${token}`),
        digest: keyedHash(hashKey, token),
        source: `the alerts token (file ${alertsTokenFile}, --alerts-token-file)`,
      }
    },
  }
}

function valueOf(reading: SecretReading, of: SecretUnavailableError['missing']['of']): Secret {
  if (reading.found) return reading.value
  const { file, why, misplaced } = reading
  throw new SecretUnavailableError({ file, why, misplaced, of })
}

export function headersOf(
  login: Login,
  userAgent: string,
  body: string | undefined,
): Readonly<Record<string, string>> {
  return {
    Authorization: login.authorization.reveal(),
    Accept: 'application/json',
    // A cache must not answer a read.
    ...(body === undefined ? { 'Cache-Control': 'no-cache' } : { 'Content-Type': 'application/json' }),
    'User-Agent': userAgent,
  }
}
