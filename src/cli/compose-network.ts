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

const TLS_FILES: Readonly<Record<keyof TlsFiles, Pick<SettingProblem, 'from' | 'right'>>> = {
  caFile: { from: '--ca-file', right: 'name a file with the certificates of the trusted authorities' },
  certFile: { from: '--client-cert-file', right: 'name a file with the client certificate' },
  keyFile: { from: '--client-key-file', right: 'name a file with the private key of --client-cert-file' },
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
    return { ...TLS_FILES[file], given: files[file], why }
  }
}

/** @returns a check that reports each new problem */
export function createFileWatch(
  settings: Settings,
  emit: Emit,
  clock: Pick<Clock, 'now'>,
): () => Promise<void> {
  const { tls } = networkOf(settings)
  let said: string | undefined
  let exposed: readonly string[] = []
  return async () => {
    const [message, names] = await Promise.all([messageOf(tls, clock.now()), exposedNames(settings)])
    const added = names.filter((name) => !exposed.includes(name))
    exposed = names
    if (added.length > 0)
      emit({ type: 'CredentialsExposed', names: added, message: exposedWords(settings, added) })
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

async function exposedNames({ credentialsDir, secretsDir }: Settings): Promise<readonly string[]> {
  const [credentials, secrets] = await Promise.all([namesIn(credentialsDir), namesIn(secretsDir)])
  return credentials.filter((name) => secrets.includes(name)).toSorted()
}

function exposedWords({ credentialsDir, secretsDir }: Settings, names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => `"${name}"`)
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  return (
    `The credentials ${shown.join(', ')}${more} are in --credentials-dir (${credentialsDir}) and in --secrets-dir (${secretsDir}) as well. ` +
    `Remove them from --secrets-dir, because a manifest can send each file there to a data source.`
  )
}

/** Names of subfolders without a leading dot. Empty if the folder cannot be read. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
  return folders.map(({ name }) => name).filter((name) => !name.startsWith('.'))
}
