import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isBelow } from '../lib/below.ts'
import { problemOf, type SettingProblem } from './setting-problem.ts'
import type { Read, ReadValues } from './settings-table.ts'

/** Of a missing path, resolves the existing part. */
type RealPath = (path: string) => string

const RIGHT_FOLDERS =
  'use two directories: one for the credentials of the platform, one for the secrets of sources'

/** Manifests can name any file below `--secrets-dir`: credentials and files in settings must be outside. */
export function checkSecretFolders(values: ReadValues, realPath: RealPath): readonly SettingProblem[] {
  const { credentialsDir, secretsDir } = values
  if (credentialsDir === undefined || secretsDir === undefined) return []
  const between = foldersProblem(credentialsDir, secretsDir, realPath)
  if (between !== undefined) return [between]
  const why = `it is below --secrets-dir (${secretsDir.value}), so that a manifest could name it, and send it to a source`
  const right = `keep the file elsewhere, such as below --credentials-dir (${credentialsDir.value})`
  return ownFiles(values).flatMap(([name, read]) =>
    read !== undefined && isIn(read.value, secretsDir.value, realPath)
      ? [problemOf(name, read, why, right)]
      : [],
  )
}

function foldersProblem(
  credentials: Read<string>,
  secrets: Read<string>,
  realPath: RealPath,
): SettingProblem | undefined {
  const why = wayBetween(credentials.value, secrets.value, realPath)
  if (why === undefined) return undefined
  const blamed =
    credentials.from === undefined && secrets.from !== undefined ? 'secretsDir' : 'credentialsDir'
  return problemOf(blamed, blamed === 'secretsDir' ? secrets : credentials, why, RIGHT_FOLDERS)
}

function wayBetween(credentials: string, secrets: string, realPath: RealPath): string | undefined {
  const [one, other] = [realPath(credentials), realPath(secrets)]
  const links =
    resolve(credentials) === one && resolve(secrets) === other ? '' : ', when their links are followed'
  if (one === other) return `--credentials-dir and --secrets-dir are the same directory${links}: ${one}`
  if (isIn(credentials, secrets, realPath))
    return `--credentials-dir (${credentials}) lies inside --secrets-dir (${secrets})${links}`
  if (isIn(secrets, credentials, realPath))
    return `--secrets-dir (${secrets}) lies inside --credentials-dir (${credentials})${links}`
  return undefined
}

/** A manifest could use the path as written or with resolved links. */
function isIn(path: string, folder: string, realPath: RealPath): boolean {
  return isBelow(resolve(path), resolve(folder)) || isBelow(realPath(path), realPath(folder))
}

function ownFiles({
  alertsTokenFile,
  adminTokenFile,
  clientKeyFile,
  webhookUrl,
  webhookSecretFile,
}: ReadValues) {
  const urlFile =
    webhookUrl !== undefined && 'file' in webhookUrl.value
      ? { value: webhookUrl.value.file, from: webhookUrl.from }
      : undefined
  return [
    ['alertsTokenFile', alertsTokenFile],
    ['adminTokenFile', adminTokenFile],
    ['clientKeyFile', clientKeyFile],
    ['webhookUrl', urlFile],
    ['webhookSecretFile', webhookSecretFile],
  ] as const
}

/** Appends the missing rest of the path. */
export function realPathOf(path: string): string {
  const whole = resolve(path)
  try {
    return realpathSync(whole)
  } catch {
    const parent = dirname(whole)
    return parent === whole ? whole : join(realPathOf(parent), basename(whole))
  }
}
