import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { isSecretRef } from '../kinds/secret-ref.ts'
import type { Clock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import type { SecretReading, SecretStore } from '../contract/secrets.ts'

/** A mounted secret is a key, a password or a certificate; what is larger was mounted by mistake. In bytes. */
const LARGEST_SECRET = 64 * 1024

/** Reads one secret from its file. */
export type ReadSecretFile = (file: string) => Promise<SecretReading>

/** Mounted secrets under `dir`: the file `<dir>/<name>/<key>`, read anew each time, links followed. */
export function createSecretStore(dir: string, readFile: ReadSecretFile = readSecretFile): SecretStore {
  return {
    async read(ref) {
      const file = join(dir, ref.name, ref.key)
      // Manifests are checked by the same schema; a name that steps out of the directory must not depend on that alone.
      if (!isSecretRef({ secretRef: ref })) return { found: false, file, why: 'unreadable' }
      return readFile(file)
    },
  }
}

/** One secret in one file: UTF-8, at most 64 KiB, one newline at the end is not part of it. */
export async function readSecretFile(file: string): Promise<SecretReading> {
  try {
    // Not blocking: to open a FIFO that nobody writes to would wait for ever.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const bytes = await contentOf(handle)
    if (bytes === undefined) return { found: false, file, why: 'unreadable' }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '')
    return text === '' ? { found: false, file, why: 'empty' } : { found: true, value: new Secret(text) }
  } catch (error) {
    // The error is dropped on purpose: what is known of it is said by `why`, and nothing of the content can follow.
    return { found: false, file, why: isAbsent(error) ? 'absent' : 'unreadable' }
  }
}

async function contentOf(handle: FileHandle): Promise<Uint8Array | undefined> {
  if (!(await handle.stat()).isFile()) return undefined
  const buffer = new Uint8Array(LARGEST_SECRET + 1)
  let length = 0
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length)
    if (bytesRead === 0) return buffer.subarray(0, length)
    length += bytesRead
    if (length > LARGEST_SECRET) return undefined
  }
}

function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** How long a reading of a file may serve others; a mount itself lags by up to a minute. */
const FRESH_MS = 1_000

/** Mounted secrets that are not read anew each time. */
export interface FreshSecrets extends SecretStore {
  /** Each file is read again for whoever asks next. */
  forget(): void
}

/**
 * Mounted secrets, each file read at most once a second: a pass over many pipes asks for the same few secrets over and over.
 * A reading serves for no longer than that, whether a secret was found or not.
 */
export function createFreshSecrets(store: SecretStore, clock: Clock): FreshSecrets {
  const readings = new Map<string, Promise<SecretReading>>()
  let since = -Infinity
  return {
    read(ref) {
      const now = clock.monotonic()
      if (now - since >= FRESH_MS) {
        readings.clear()
        since = now
      }
      const id = `${ref.name}/${ref.key}`
      const known = readings.get(id)
      if (known !== undefined) return known
      const reading = store.read(ref)
      readings.set(id, reading)
      return reading
    },
    forget: () => readings.clear(),
  }
}
