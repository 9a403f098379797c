import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isBelow } from '../lib/below.ts'
import type { SettingProblem } from './setting-problem.ts'
import { definitionOf, type Read, type ReadValues } from './settings-table.ts'

/** Where a path leads to; of what is not there, where it would be. */
type RealPath = (path: string) => string

/** A file with something of Pipewright's own, and who names it. */
interface OwnFile {
  readonly setting: string
  readonly from: string
  readonly path: string
}

const RIGHT_FOLDERS =
  'give the credentials of the platform a directory of their own, beside that of the secrets of sources'

/**
 * What manifests may name lies below `--secrets-dir`, and nothing of Pipewright's own does (design §2, law 6): neither the
 * directory of the platform's credentials, nor a file that another setting names.
 */
export function checkSecretFolders(values: ReadValues, realPath: RealPath): readonly SettingProblem[] {
  const { credentialsDir, secretsDir } = values
  if (credentialsDir === undefined || secretsDir === undefined) return []
  const between = foldersProblem(credentialsDir, secretsDir, realPath)
  if (between !== undefined) return [between]
  return ownFiles(values)
    .filter(({ path }) => isIn(path, secretsDir.value, realPath))
    .map(({ setting, from, path }) => ({
      setting,
      from,
      given: path,
      why: `it is below --secrets-dir (${secretsDir.value}), so that a manifest could name it, and send it to a source`,
      right: `keep the file elsewhere, such as below --credentials-dir (${credentialsDir.value})`,
    }))
}

function foldersProblem(
  credentials: Read<string>,
  secrets: Read<string>,
  realPath: RealPath,
): SettingProblem | undefined {
  const why = wayBetween(credentials.value, secrets.value, realPath)
  if (why === undefined) return undefined
  // Whoever named only the one that is the secrets' is told of that.
  const blamed =
    credentials.from === undefined && secrets.from !== undefined ? 'secretsDir' : 'credentialsDir'
  const { value, from } = blamed === 'secretsDir' ? secrets : credentials
  const { flag } = definitionOf(blamed)
  return { setting: flag, from: from ?? `--${flag}`, given: value, why, right: RIGHT_FOLDERS }
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

/** As it is written, or as links lead: either would do for a manifest. */
function isIn(path: string, folder: string, realPath: RealPath): boolean {
  return isBelow(resolve(path), resolve(folder)) || isBelow(realPath(path), realPath(folder))
}

function ownFiles({
  alertsTokenFile,
  adminTokenFile,
  clientKeyFile,
  webhookUrl,
  webhookSecretFile,
}: ReadValues): readonly OwnFile[] {
  const urlFile =
    webhookUrl !== undefined && 'file' in webhookUrl.value
      ? { value: webhookUrl.value.file, from: webhookUrl.from }
      : undefined
  const ofSettings = [
    ['alertsTokenFile', alertsTokenFile],
    ['adminTokenFile', adminTokenFile],
    ['clientKeyFile', clientKeyFile],
    ['webhookUrl', urlFile],
    ['webhookSecretFile', webhookSecretFile],
  ] as const
  return ofSettings.flatMap(([name, read]) => {
    const { flag } = definitionOf(name)
    return read === undefined ? [] : [{ setting: flag, from: read.from ?? `--${flag}`, path: read.value }]
  })
}

/** Of the nearest folder that is there, and what is left of the path. */
export function realPathOf(path: string): string {
  const whole = resolve(path)
  try {
    return realpathSync(whole)
  } catch {
    const parent = dirname(whole)
    return parent === whole ? whole : join(realPathOf(parent), basename(whole))
  }
}
