import { constants } from 'node:fs'
import { type FileHandle, open, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { isSecretRef, type SecretRef } from '../kinds/secret-ref.ts'
import type { Clock } from '../lib/clock.ts'
import { isBelow } from '../lib/below.ts'
import { createSecretMask, MIN_MASKED_LENGTH, type SecretMask } from '../lib/mask/secret-mask.ts'
import { isOutOfFiles } from '../lib/open-files.ts'
import { Secret } from '../lib/secret.ts'
import { isOfPlatform } from './platform-values.ts'
import { DEFAULT_WIRE } from './wire.ts'
import type { Emit } from '../contract/events.ts'
import type { SecretOwner, SecretReading, SecretStore } from '../contract/secrets.ts'

/** A mounted secret is a key, a password or a certificate; what is larger was mounted by mistake. In bytes. */
const LARGEST_SECRET = 64 * 1024

/** What the two files of an API key are called. */
const API_KEY: readonly string[] = [DEFAULT_WIRE.keyIdKey, DEFAULT_WIRE.keySecretKey]

/** Reads one secret from its file. */
export type ReadSecretFile = (file: string) => Promise<SecretReading>

/** Where secrets are mounted: the platform's, and the sources'. */
export interface SecretFolders {
  readonly credentialsDir: string
  readonly secretsDir: string
  /** Files with a credential of the platform, or a token of ours, that settings name. */
  readonly ownFiles?: readonly string[]
}

/** Mounted secrets, and the files with credentials that a setting names. */
export interface MountedSecrets extends SecretStore {
  readFile(file: string): SecretReading | Promise<SecretReading>
}

/**
 * Mounted secrets, read anew each time, links followed, but not from one owner's directory into the other's: whoever may
 * name what is in one must not come by the other.
 */
export function createMountedSecrets(
  { credentialsDir, secretsDir, ownFiles = [] }: SecretFolders,
  readSecret: ReadSecretFile = readSecretFile,
  emit: Emit = () => undefined,
): MountedSecrets {
  const short = new Set<string>()

  async function readFile(file: string): Promise<SecretReading> {
    const reading = await readSecret(file)
    if (reading.found && reading.value.reveal().length < MIN_MASKED_LENGTH && !short.has(file)) {
      short.add(file)
      emit({ type: 'ShortSecretFound', file })
    }
    return reading
  }

  const folders: Readonly<Record<SecretOwner, string>> = { platform: credentialsDir, source: secretsDir }

  async function readCredential(file: string): Promise<SecretReading> {
    const reading = await readApart(file, secretsDir)
    if (reading.found || reading.why === 'no descriptor') return reading
    const misplaced = await misplacedFolder(file)
    return misplaced === undefined ? reading : { ...reading, misplaced }
  }

  async function readApart(file: string, other: string): Promise<SecretReading> {
    return (await leadsInto(file, other)) ? { found: false, file, why: 'linked' } : readFile(file)
  }

  async function readOfSource({ name, key }: SecretRef['secretRef'], file: string): Promise<SecretReading> {
    if (API_KEY.includes(key) && (await isLeftBehind(name))) return { found: false, file, why: 'credential' }
    const reading = await readApart(file, credentialsDir)
    if (!reading.found) return reading
    const isCredential = await isOfPlatform(reading.value, { credentialsDir, ownFiles }, readFile)
    if (isCredential === 'unknown') return { found: false, file, why: 'no descriptor' }
    return isCredential ? { found: false, file, why: 'credential' } : reading
  }

  /** Whether a folder holds an API key that was not moved when the platform's credentials got a directory of their own. */
  async function isLeftBehind(name: string): Promise<boolean> {
    const [moved, ...parts] = await Promise.all(
      [join(credentialsDir, name), ...API_KEY.map((key) => join(secretsDir, name, key))].map(isThere),
    )
    return moved === false && parts.every((isPart) => isPart)
  }

  /** The folder in the secrets directory where a credential that is not found was mounted once. */
  async function misplacedFolder(file: string): Promise<string | undefined> {
    const name = relative(credentialsDir, dirname(file))
    if (name === '' || name.startsWith('..') || name.includes(sep)) return undefined
    const folder = join(secretsDir, name)
    const stats = await stat(folder).catch(() => undefined)
    return stats?.isDirectory() === true ? folder : undefined
  }

  return {
    async read(ref, owner) {
      const file = join(folders[owner], ref.name, ref.key)
      // Manifests are checked by the same schema; a name that steps out of the directory must not depend on that alone.
      if (!isSecretRef({ secretRef: ref })) return { found: false, file, why: 'unreadable' }
      return owner === 'platform' ? readCredential(file) : readOfSource(ref, file)
    },
    readFile: readCredential,
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

async function leadsInto(file: string, folder: string): Promise<boolean> {
  // What cannot be resolved cannot be read either, and says so then.
  const [from, into] = await Promise.all([file, folder].map((path) => realpath(path).catch(() => undefined)))
  return from !== undefined && into !== undefined && isBelow(from, into)
}

/** One secret in one file: UTF-8, at most 64 KiB, one newline at the end is not part of it. */
export async function readSecretFile(file: string, openFile: typeof open = open): Promise<SecretReading> {
  try {
    // Not blocking: to open a FIFO that nobody writes to would wait for ever.
    await using handle = await openFile(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const bytes = await contentOf(handle)
    if (bytes === undefined) return { found: false, file, why: 'unreadable' }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '')
    return text === '' ? { found: false, file, why: 'empty' } : { found: true, value: new Secret(text) }
  } catch (error) {
    // The error is dropped on purpose: what is known of it is said by `why`, and nothing of the content can follow.
    return { found: false, file, why: whyOf(error) }
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

function whyOf(error: unknown): 'absent' | 'no descriptor' | 'unreadable' {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (isOutOfFiles(code)) return 'no descriptor'
  return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : 'unreadable'
}

/** How long a reading of a file may serve others; a mount itself lags by up to a minute. */
const FRESH_MS = 1_000

/** Mounted secrets that are not read anew each time. */
export interface FreshSecrets extends MountedSecrets {
  /** Each file is read again for whoever asks next. */
  readonly forget: () => void
  /** Masks every secret that was read, also those that a file held before. */
  readonly mask: SecretMask
}

interface Kept {
  reading: SecretReading | Promise<SecretReading>
}

/**
 * Mounted secrets, each file read at most once a second: a pass over many pipes asks for the same few secrets over and over.
 * A reading serves for no longer than that, whether a secret was found or not.
 */
export function createFreshSecrets(mounted: MountedSecrets, clock: Pick<Clock, 'monotonic'>): FreshSecrets {
  const readings = new Map<string, Kept>()
  const mask = createSecretMask()
  let since = -Infinity

  function fresh(
    id: string,
    read: () => SecretReading | Promise<SecretReading>,
  ): SecretReading | Promise<SecretReading> {
    const now = clock.monotonic()
    if (now - since >= FRESH_MS) {
      readings.clear()
      since = now
    }
    const before = readings.get(id)
    if (before !== undefined) return before.reading
    const kept: Kept = { reading: read() }
    readings.set(id, kept)
    if (kept.reading instanceof Promise)
      kept.reading = kept.reading.then((reading) => {
        kept.reading = reading
        note(reading)
        return reading
      })
    else note(kept.reading)
    return kept.reading
  }

  function note(reading: SecretReading): void {
    if (reading.found) mask.add(reading.value.reveal())
  }

  return {
    read: (ref, owner) => fresh(`${owner} ${ref.name}/${ref.key}`, () => mounted.read(ref, owner)),
    readFile: (file) => fresh(`file ${file}`, () => mounted.readFile(file)),
    forget: () => readings.clear(),
    mask,
  }
}
