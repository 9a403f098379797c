import { randomBytes } from 'node:crypto'
import { keyedHash } from '../lib/digest.ts'
import { Secret } from '../lib/secret.ts'
import { type SecretReading, SecretUnavailableError } from '../contract/secrets.ts'
import type { FreshSecrets } from './secret-store.ts'
import { WIRE } from './wire.ts'

export interface Login {
  readonly authorization: Secret
  readonly secrets: readonly Secret[]
  /** Equal credentials have equal digests in this process. */
  readonly digest: string
  readonly source: string
}

/** Each method returns a promise only if it must read the secret again. @throws {SecretUnavailableError} */
export function createCredentials(options: {
  readonly secrets: FreshSecrets
  readonly alertsTokenFile: string
}) {
  const { secrets, alertsTokenFile } = options
  const hashKey = randomBytes(32)
  const made = new Map<string, { readonly of: readonly SecretReading[]; readonly login: Login }>()

  /** Reuses a login until a secret is read again, because many pipes share a login. */
  function loginOf<R extends readonly SecretReading[]>(id: string, of: R, make: (of: R) => Login): Login {
    const known = made.get(id)
    if (known !== undefined && of.every((reading, index) => reading === known.of[index])) return known.login
    const login = make(of)
    made.set(id, { of, login })
    return login
  }

  function basicOf(name: string, [keyId, keySecret]: readonly [SecretReading, SecretReading]): Login {
    const id = valueOf(keyId, 'API key')
    const secret = valueOf(keySecret, 'API key')
    const pair = `${id.reveal()}:${secret.reveal()}`
    const encoded = Buffer.from(pair, 'utf8').toString('base64')
    secrets.mask.add(encoded)
    return {
      authorization: new Secret(`Basic ${encoded}`),
      secrets: [id, secret, new Secret(encoded)],
      digest: keyedHash(hashKey, pair),
      source: `secret ${name} (files ${name}/${WIRE.keyIdKey} and ${name}/${WIRE.keySecretKey} in --credentials-dir)`,
    }
  }

  function bearerOf([reading]: readonly [SecretReading]): Login {
    const token = valueOf(reading, 'alerts token')
    // Refused here, because the HTTP client's error would show the token.
    if (!/^[\x21-\x7e]+$/.test(token.reveal())) {
      throw new SecretUnavailableError({ file: alertsTokenFile, why: 'malformed', of: 'alerts token' })
    }
    return {
      authorization: new Secret(`Bearer ${token.reveal()}`),
      secrets: [token],
      digest: keyedHash(hashKey, token.reveal()),
      source: `the alerts token (file ${alertsTokenFile}, --alerts-token-file)`,
    }
  }

  return {
    basic(name: string): Login | Promise<Login> {
      const keyId = secrets.read({ name, key: WIRE.keyIdKey }, 'platform')
      const keySecret = secrets.read({ name, key: WIRE.keySecretKey }, 'platform')
      const make = (of: readonly [SecretReading, SecretReading]) => basicOf(name, of)
      return keyId instanceof Promise || keySecret instanceof Promise
        ? answeredLater(Promise.all([keyId, keySecret]).then((of) => loginOf(`basic ${name}`, of, make)))
        : loginOf(`basic ${name}`, [keyId, keySecret], make)
    },
    bearer(): Login | Promise<Login> {
      const token = secrets.readFile(alertsTokenFile)
      return token instanceof Promise
        ? answeredLater(token.then((reading) => loginOf('bearer', [reading], bearerOf)))
        : loginOf('bearer', [token], bearerOf)
    },
  }
}

/** Prevents an unhandled rejection if the caller ignores the promise. */
function answeredLater(login: Promise<Login>): Promise<Login> {
  login.catch(() => undefined)
  return login
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
