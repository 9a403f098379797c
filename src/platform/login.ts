import { randomBytes } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { keyedHash } from '../lib/digest.ts'
import { type EchoMask, echoMask } from '../lib/echo.ts'
import { Secret } from '../lib/secret.ts'
import {
  type MissingCredential,
  type SecretReading,
  type SecretStore,
  SecretUnavailableError,
} from '../contract/secrets.ts'
import { readSecretFile, type ReadSecretFile } from './secret-store.ts'
import type { Wire } from './wire.ts'

/** How long a reading of the files may serve further requests; a mount itself lags by up to a minute. */
const FRESH_MS = 1_000

/** What a request needs to show who is asking (`spec/api.md` 5). */
export interface Login {
  /** Value of the `Authorization` header. */
  readonly authorization: Secret
  /** Every text that must not come back in a message: parts of the header and what it was made of. */
  readonly secrets: readonly Secret[]
  /** Masks these in a text. */
  readonly echoes: EchoMask
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
  /** Reads the files again for the next request: the platform refused what they said. */
  forget(): void
}

interface Reading {
  login: Login | Promise<Login>
  /** On the monotonic clock, ms. */
  readonly at: number
}

export function createCredentials(options: {
  readonly secrets: SecretStore
  readonly alertsTokenFile: string
  readonly readSecretFile?: ReadSecretFile | undefined
  readonly clock: Clock
  readonly wire: Wire
}): Credentials {
  const { secrets, alertsTokenFile, readSecretFile: readFile = readSecretFile, clock, wire } = options
  const hashKey = randomBytes(32)
  const readings = new Map<string, Reading>()

  function fresh(id: string, read: () => Promise<Login>): Login | Promise<Login> {
    const known = readings.get(id)
    if (known !== undefined && clock.monotonic() - known.at < FRESH_MS) return known.login
    const login = read().then((done) => {
      reading.login = done
      return done
    })
    const reading: Reading = { login, at: clock.monotonic() }
    readings.set(id, reading)
    // A failed reading serves nobody but those who wait for it; they get the error from `login` itself.
    login.catch(() => readings.delete(id))
    return login
  }

  async function readBasic(name: string): Promise<Login> {
    const [keyId, keySecret] = await Promise.all([
      secrets.read({ name, key: wire.keyIdKey }),
      secrets.read({ name, key: wire.keySecretKey }),
    ])
    const id = valueOf(keyId, 'API key')
    const secret = valueOf(keySecret, 'API key')
    const pair = `${id.reveal()}:${secret.reveal()}`
    const encoded = Buffer.from(pair, 'utf8').toString('base64')
    return {
      authorization: new Secret(`Basic ${encoded}`),
      secrets: [id, secret, new Secret(encoded)],
      echoes: echoMask([id.reveal(), secret.reveal(), encoded]),
      digest: keyedHash(hashKey, pair),
      source: `secret ${name} (files ${name}/${wire.keyIdKey} and ${name}/${wire.keySecretKey} in --secrets-dir)`,
    }
  }

  async function readBearer(): Promise<Login> {
    const token = valueOf(await readFile(alertsTokenFile), 'alerts token')
    // A header cannot carry anything else, and an error of the HTTP client must not be what says so.
    if (!/^[\x21-\x7e]+$/.test(token.reveal())) {
      throw new SecretUnavailableError({ file: alertsTokenFile, why: 'malformed', of: 'alerts token' })
    }
    return {
      authorization: new Secret(`Bearer ${token.reveal()}`),
      secrets: [token],
      echoes: echoMask([token.reveal()]),
      digest: keyedHash(hashKey, token.reveal()),
      source: `the alerts token (file ${alertsTokenFile}, --alerts-token-file)`,
    }
  }

  return {
    basic: (secretName) => fresh(`basic ${secretName}`, () => readBasic(secretName)),
    bearer: () => fresh('bearer', readBearer),
    forget: () => readings.clear(),
  }
}

function valueOf(reading: SecretReading, of: MissingCredential['of']): Secret {
  if (reading.found) return reading.value
  throw new SecretUnavailableError({ file: reading.file, why: reading.why, of })
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
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    'User-Agent': userAgent,
  }
}
