import { randomBytes } from 'node:crypto'
import { keyedHash } from '../lib/digest.ts'
import { Secret } from '../lib/secret.ts'
import { type MissingCredential, type SecretReading, SecretUnavailableError } from '../contract/secrets.ts'
import type { FreshSecrets } from './secret-store.ts'
import type { Wire } from './wire.ts'

/** What a request needs to show who is asking (`spec/api.md` 5). */
export interface Login {
  /** Value of the `Authorization` header. */
  readonly authorization: Secret
  /** Every text that must not come back in a message: parts of the header and what it was made of. */
  readonly secrets: readonly Secret[]
  /** Equal for equal credentials; keyed with a key of this process, so that it says nothing elsewhere. */
  readonly digest: string
  /** Where a person looks for them, in words. */
  readonly source: string
}

export interface Credentials {
  /**
   * Basic, of the mounted secret with this name. At once when it was read a moment ago.
   * @throws {SecretUnavailableError}
   */
  basic(secretName: string): Login | Promise<Login>
  /**
   * Bearer, of the token file for alerts. At once when it was read a moment ago.
   * @throws {SecretUnavailableError}
   */
  readonly bearer: () => Login | Promise<Login>
}

/** A login, and the readings that it was made of. */
interface Made {
  readonly of: readonly SecretReading[]
  readonly login: Login
}

export function createCredentials(options: {
  readonly secrets: FreshSecrets
  readonly alertsTokenFile: string
  readonly wire: Wire
}): Credentials {
  const { secrets, alertsTokenFile, wire } = options
  const hashKey = randomBytes(32)
  const made = new Map<string, Made>()

  /** Made again only of other readings: a pass over many pipes asks for the same login over and over. */
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
      source: `secret ${name} (files ${name}/${wire.keyIdKey} and ${name}/${wire.keySecretKey} in --credentials-dir)`,
    }
  }

  function bearerOf([reading]: readonly [SecretReading]): Login {
    const token = valueOf(reading, 'alerts token')
    // A header cannot carry anything else, and an error of the HTTP client must not be what says so.
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
    basic(name) {
      const keyId = secrets.read({ name, key: wire.keyIdKey }, 'platform')
      const keySecret = secrets.read({ name, key: wire.keySecretKey }, 'platform')
      const make = (of: readonly [SecretReading, SecretReading]) => basicOf(name, of)
      return keyId instanceof Promise || keySecret instanceof Promise
        ? answeredLater(Promise.all([keyId, keySecret]).then((of) => loginOf(`basic ${name}`, of, make)))
        : loginOf(`basic ${name}`, [keyId, keySecret], make)
    },
    bearer() {
      const token = secrets.readFile(alertsTokenFile)
      return token instanceof Promise
        ? answeredLater(token.then((reading) => loginOf('bearer', [reading], bearerOf)))
        : loginOf('bearer', [token], bearerOf)
    },
  }
}

/** Whoever waits for it gets its error; where nobody does, that must not end the process. */
function answeredLater(login: Promise<Login>): Promise<Login> {
  login.catch(() => undefined)
  return login
}

function valueOf(reading: SecretReading, of: MissingCredential['of']): Secret {
  if (reading.found) return reading.value
  const { file, why, misplaced } = reading
  throw new SecretUnavailableError({ file, why, misplaced, of })
}

/** Headers of every request (`spec/api.md` 4 and 5); `Content-Type` goes with a body only. */
export function headersOf(options: {
  readonly login: Login
  readonly userAgent: string
  readonly body: string | undefined
}): Readonly<Record<string, string>> {
  const { login, userAgent, body } = options
  return {
    Authorization: login.authorization.reveal(),
    Accept: 'application/json',
    // Of a reading: what the platform says now, and not what somebody between kept.
    ...(body === undefined ? { 'Cache-Control': 'no-cache' } : { 'Content-Type': 'application/json' }),
    'User-Agent': userAgent,
  }
}
