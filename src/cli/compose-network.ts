import { formatProblems } from '../config/setting-problem.ts'
import type { Settings } from '../config/settings.ts'
import type { NetworkSettings } from '../platform/network.ts'
import { readTls, TlsFileError, type TlsFiles } from '../platform/tls-files.ts'
import { CommandError, EXIT } from './io.ts'

type Reached = Pick<Settings, 'proxies' | 'caFile' | 'clientCertFile' | 'clientKeyFile'>

/** How the platform is reached. */
export function networkOf({ proxies, caFile, clientCertFile, clientKeyFile }: Reached): NetworkSettings {
  return { proxies, tls: { caFile, certFile: clientCertFile, keyFile: clientKeyFile } }
}

/** How receivers of notifications are reached: the client certificate is not for them. */
export function networkOfNotifications({ proxies, caFile }: Reached): NetworkSettings {
  return { proxies, tls: { caFile, certFile: undefined, keyFile: undefined } }
}

const FLAG: Readonly<Record<keyof TlsFiles, string>> = {
  caFile: 'ca-file',
  certFile: 'client-cert-file',
  keyFile: 'client-key-file',
}

const RIGHT: Readonly<Record<keyof TlsFiles, string>> = {
  caFile: 'name a file with the certificates of authorities',
  certFile: 'name a file with the certificate of the client',
  keyFile: 'name a file with the key of --client-cert-file',
}

/** Files that cannot be used are shown at the start. @throws {CommandError} */
export async function assertTls(files: TlsFiles): Promise<void> {
  if (Object.values(files).every((file) => file === undefined)) return
  try {
    await readTls(files)
  } catch (error) {
    if (!(error instanceof TlsFileError)) throw error
    const { file, message: why } = error
    const from = `--${FLAG[file]}`
    const problem = { setting: FLAG[file], from, given: files[file], why, right: RIGHT[file] }
    throw new CommandError(formatProblems([problem]), EXIT.usage)
  }
}
