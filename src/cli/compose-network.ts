import { formatProblems, type SettingProblem } from '../config/setting-sources.ts'
import type { Settings } from '../config/settings.ts'
import type { Emit } from '../contract/events.ts'
import { timeOf } from '../kinds/instant.ts'
import type { Clock } from '../lib/clock.ts'
import type { NetworkSettings } from '../platform/network.ts'
import { expiredAt, readTls, TlsFileError, type TlsFiles } from '../platform/tls-files.ts'
import { misuse } from './io.ts'
import { readdir } from 'node:fs/promises'

export function networkOf({ proxies, caFile, clientCertFile, clientKeyFile }: Settings): NetworkSettings {
  return { proxies, tls: { caFile, certFile: clientCertFile, keyFile: clientKeyFile } }
}

/** Settings for webhooks and the daemon's API. Omits the client certificate, which is for the platform only. */
export function networkToOthers({ proxies, caFile }: Pick<Settings, 'proxies' | 'caFile'>): NetworkSettings {
  return { proxies, tls: { caFile, certFile: undefined, keyFile: undefined } }
}

const FLAG: Readonly<Record<keyof TlsFiles, string>> = {
  caFile: 'ca-file',
  certFile: 'client-cert-file',
  keyFile: 'client-key-file',
}

const RIGHT: Readonly<Record<keyof TlsFiles, string>> = {
  caFile: 'name a file with the certificates of the trusted authorities',
  certFile: 'name a file with the client certificate',
  keyFile: 'name a file with the private key of --client-cert-file',
}

export async function assertTls(files: TlsFiles): Promise<void> {
  const problem = await problemOf(files)
  if (problem !== undefined) misuse(formatProblems([problem]))
}

async function problemOf(files: TlsFiles): Promise<SettingProblem | undefined> {
  if (Object.values(files).every((file) => file === undefined)) return undefined
  try {
    await readTls(files)
    return undefined
  } catch (error) {
    if (!(error instanceof TlsFileError)) throw error
    const { file, message: why } = error
    return { from: `--${FLAG[file]}`, given: files[file], why, right: RIGHT[file] }
  }
}

/** @returns a check for an expired certificate or unusable files; it reports each new problem */
export function createTlsWatch(files: TlsFiles, emit: Emit, clock: Pick<Clock, 'now'>): () => Promise<void> {
  let said: string | undefined
  return async () => {
    const message = await messageOf(files, clock.now())
    if (message !== undefined && message !== said) emit({ type: 'TlsFilesUnusable', message })
    said = message
  }
}

async function messageOf(files: TlsFiles, now: number): Promise<string | undefined> {
  const problem = await problemOf(files)
  if (problem !== undefined) {
    const { from, given, why, right } = problem
    return `${from} ${given}: ${why}. New connections use the earlier content of the file. To correct this, ${right}.`
  }
  const expired = await expiredAt(files, now).catch(() => undefined) // the next look reports a vanished file
  if (expired === undefined) return undefined
  return `--client-cert-file ${files.certFile}: the certificate expired at ${timeOf(expired.getTime())}. Write a valid certificate to this file.`
}

const MOST_NAMES = 5

export function createMountWatch(
  { credentialsDir, secretsDir }: Pick<Settings, 'credentialsDir' | 'secretsDir'>,
  emit: Emit,
): () => Promise<void> {
  let said: readonly string[] = []
  return async () => {
    const [credentials, secrets] = await Promise.all([namesIn(credentialsDir), namesIn(secretsDir)])
    const before = said
    said = credentials.filter((name) => secrets.includes(name)).toSorted()
    const names = said.filter((name) => !before.includes(name))
    if (names.length === 0) return
    const shown = names.slice(0, MOST_NAMES).map((name) => `"${name}"`)
    const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
    emit({
      type: 'CredentialsExposed',
      names,
      message:
        `The credentials ${shown.join(', ')}${more} are in --credentials-dir (${credentialsDir}) and in --secrets-dir (${secretsDir}) as well. ` +
        `Remove them from --secrets-dir, because a manifest can send each file there to a data source.`,
    })
  }
}

/** Names of subfolders without a leading dot. Empty if the folder cannot be read. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
  return folders.map(({ name }) => name).filter((name) => !name.startsWith('.'))
}
