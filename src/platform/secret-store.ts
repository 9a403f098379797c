import { constants } from 'node:fs'
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { isSecretRef, type SecretRef } from '../kinds/secret-ref.ts'
import type { Clock } from '../lib/clock.ts'
import { isBelow, isOutOfFiles } from '../lib/files.ts'
import { createSecretMask, MIN_MASKED_LENGTH, type SecretMask } from '../lib/mask/secret-mask.ts'
import { Secret } from '../lib/secret.ts'
import { WIRE } from './wire.ts'
import type { Emit } from '../contract/events.ts'
import type { SecretReading, SecretStore } from '../contract/secrets.ts'

/** Bytes. A larger file was mounted by mistake. */
const LARGEST_SECRET = 64 * 1024

const API_KEY: readonly string[] = [WIRE.keyIdKey, WIRE.keySecretKey]

export type ReadSecretFile = (file: string) => Promise<SecretReading>

interface SecretFolders {
  readonly credentialsDir: string
  readonly secretsDir: string
  readonly ownFiles?: readonly string[]
}

interface MountedSecrets extends SecretStore {
  readFile(file: string): Promise<SecretReading>
}

/** Reads secrets without a cache. Refuses a link from `credentialsDir` into `secretsDir`, or back. */
export function createMountedSecrets(
  folders: SecretFolders,
  readSecret: ReadSecretFile = readSecretFile,
  emit: Emit = () => undefined,
): MountedSecrets {
  const { credentialsDir, secretsDir } = folders
  const short = new Set<string>()

  async function readFile(file: string): Promise<SecretReading> {
    const reading = await readSecret(file)
    if (reading.found && reading.value.reveal().length < MIN_MASKED_LENGTH && !short.has(file)) {
      short.add(file)
      emit({ type: 'ShortSecretFound', file })
    }
    return reading
  }

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
    const isCredential = await isOfPlatform(reading.value, folders, readFile)
    if (isCredential === 'unknown') return { found: false, file, why: 'no descriptor' }
    return isCredential ? { found: false, file, why: 'credential' } : reading
  }

  /** Whether the API key is still in `secretsDir`, where older releases kept it. */
  async function isLeftBehind(name: string): Promise<boolean> {
    const [moved, ...parts] = await Promise.all(
      [join(credentialsDir, name), ...API_KEY.map((key) => join(secretsDir, name, key))].map(isThere),
    )
    return moved === false && parts.every((isPart) => isPart)
  }

  async function misplacedFolder(file: string): Promise<string | undefined> {
    const name = relative(credentialsDir, dirname(file))
    if (name === '' || name.startsWith('..') || name.includes(sep)) return undefined
    const folder = join(secretsDir, name)
    const stats = await stat(folder).catch(() => undefined)
    return stats?.isDirectory() === true ? folder : undefined
  }

  return {
    async read(ref, owner) {
      const file = join(owner === 'platform' ? credentialsDir : secretsDir, ref.name, ref.key)
      // A name such as `..` would lead out of the directory.
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
  const [from, into] = await Promise.all([file, folder].map((path) => realpath(path).catch(() => undefined)))
  return from !== undefined && into !== undefined && isBelow(from, into)
}

/** Reads UTF-8 of at most 64 KiB, and drops a newline at the end. */
export async function readSecretFile(file: string, openFile: typeof open = open): Promise<SecretReading> {
  try {
    // O_NONBLOCK: does not wait for the writer of a FIFO.
    await using handle = await openFile(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const bytes = await contentOf(handle)
    if (bytes === undefined) return { found: false, file, why: 'unreadable' }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '')
    return text === '' ? { found: false, file, why: 'empty' } : { found: true, value: new Secret(text) }
  } catch (error) {
    // Returns a code, because the error could repeat content.
    return { found: false, file, why: whyOf(error) }
  }
}

async function contentOf(handle: FileHandle): Promise<Uint8Array | undefined> {
  if (!(await handle.stat()).isFile()) return undefined
  const buffer = Buffer.allocUnsafe(LARGEST_SECRET + 1)
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

/** Bytes. Shorter secrets are not compared, because they can be equal by chance. */
const SHORTEST_KEY = 8

const LONGEST_END = 2

/**
 * Whether a source's secret is one of Pipewright's own credentials, even as a copy or a second mount. Reads only
 * files of the secret's size.
 * @returns `unknown` if the process cannot open more files; the secret must then not be used
 */
async function isOfPlatform(
  secret: Secret,
  { credentialsDir, ownFiles = [] }: SecretFolders,
  read: ReadSecretFile,
): Promise<boolean | 'unknown'> {
  const value = secret.reveal()
  const size = Buffer.byteLength(value)
  if (size < SHORTEST_KEY) return false
  const files = await filesIn(credentialsDir)
  if (files === 'unknown') return 'unknown'
  for (const file of [...files, ...ownFiles]) {
    const stats = await stat(file).catch(() => undefined)
    if (stats === undefined || stats.size < size || stats.size > size + LONGEST_END) continue
    const reading = await read(file)
    if (!reading.found && reading.why === 'no descriptor') return 'unknown'
    if (reading.found && reading.value.reveal() === value) return true
  }
  return false
}

/** Skips hidden names, which are Kubernetes' links to the same files. */
async function filesIn(folder: string): Promise<readonly string[] | 'unknown'> {
  const names = await namesIn(folder)
  if (names === 'unknown') return names
  const files: string[] = []
  for (const name of names) {
    const keys = await namesIn(join(folder, name))
    if (keys === 'unknown') return keys
    files.push(...keys.map((key) => join(folder, name, key)))
  }
  return files
}

export async function* secretsIn(
  folder: string,
  read: ReadSecretFile = readSecretFile,
): AsyncIterable<Secret> {
  const files = await filesIn(folder)
  for (const file of files === 'unknown' ? [] : files) {
    const reading = await read(file)
    if (reading.found) yield reading.value
  }
}

async function namesIn(folder: string): Promise<readonly string[] | 'unknown'> {
  try {
    const names = await readdir(folder)
    return names.filter((name) => !name.startsWith('.'))
  } catch (error) {
    return whyOf(error) === 'no descriptor' ? 'unknown' : []
  }
}

/** ms to reuse a reading. A mount lags by up to a minute anyway. */
const FRESH_MS = 100

export interface FreshSecrets extends MountedSecrets {
  readonly forget: () => void
  readonly mask: SecretMask
}

/** Caches readings, also failed ones, because many pipes share a few secrets. */
export function createFreshSecrets(mounted: MountedSecrets, clock: Pick<Clock, 'monotonic'>): FreshSecrets {
  const readings = new Map<string, Promise<SecretReading>>()
  const mask = createSecretMask()
  let since = -Infinity

  function fresh(id: string, read: () => Promise<SecretReading>): Promise<SecretReading> {
    const now = clock.monotonic()
    if (now - since >= FRESH_MS) {
      readings.clear()
      since = now
    }
    return readings.getOrInsertComputed(id, async () => {
      const reading = await read()
      if (reading.found) mask.add(reading.value.reveal())
      return reading
    })
  }

  return {
    read: (ref, owner) => fresh(`${owner} ${ref.name}/${ref.key}`, () => mounted.read(ref, owner)),
    readFile: (file) => fresh(`file ${file}`, () => mounted.readFile(file)),
    forget: () => readings.clear(),
    mask,
  }
}
