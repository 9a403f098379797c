import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { MANIFESTS, otherLedger, otherSecrets, type Settings } from '../config/settings.ts'
import type { Activity } from '../contract/activity.ts'
import { AS_SAID, type CommandContext } from '../server/command-line.ts'
import type { StepContext } from '../server/remedy.ts'

export type Here = Pick<Settings, 'sandbox' | 'ledger'> &
  Partial<Pick<Settings, 'manifests' | 'baseUrl' | 'secretsDir' | 'server'>>

/** What a command that is said here has to name. */
export function commandContext(settings: Here): CommandContext {
  const { sandbox, manifests, baseUrl, secretsDir, server } = settings
  const ledger = otherLedger(settings)
  return {
    sandbox,
    ledger,
    manifests: manifests === undefined ? undefined : otherManifests(manifests, ledger),
    baseUrl,
    secretsDir: secretsDir === undefined ? undefined : otherSecrets({ sandbox, secretsDir }),
    server,
  }
}

/** Who can name the ledger from anywhere can name the manifests from anywhere too. */
function otherManifests(manifests: string, ledger: string | undefined): string | undefined {
  const path = resolve(manifests)
  return ledger === undefined && path === resolve(MANIFESTS) ? undefined : path
}

/** The same of what came from a daemon, if one was asked: it has put in what a command has to name there. */
export function replyContext(settings: Here): CommandContext {
  return settings.server === undefined ? commandContext(settings) : AS_SAID
}

/** Settings as whoever works with the ledger has them, where nobody said otherwise. */
export function settingsOfDaemon<S extends Here>(
  settings: S,
  last: Partial<Pick<Activity, 'manifests' | 'baseUrl' | 'secretsDir'>> | undefined,
): S {
  const { manifests = MANIFESTS, baseUrl = last?.baseUrl } = settings
  const isSame =
    manifests !== MANIFESTS || last?.manifests === undefined || last.manifests === resolve(MANIFESTS)
  const { secretsDir } = settings
  const isOwn =
    secretsDir !== undefined && otherSecrets({ sandbox: settings.sandbox, secretsDir }) !== undefined
  return {
    ...settings,
    manifests: isSame ? manifests : last.manifests,
    baseUrl,
    secretsDir: isOwn ? secretsDir : (last?.secretsDir ?? secretsDir),
  }
}

/** What a process that works with the ledger leaves in it, for the commands of others. */
export function worksWith({
  manifests,
  baseUrl,
  sandbox,
  secretsDir,
}: Pick<Settings, 'manifests' | 'baseUrl' | 'sandbox' | 'secretsDir'>): Pick<
  Activity,
  'manifests' | 'baseUrl' | 'secretsDir'
> {
  return { manifests: resolve(manifests), baseUrl, secretsDir: otherSecrets({ sandbox, secretsDir }) }
}

/** What the steps that are said here have to name. */
export function stepContext(settings: Here & Pick<Settings, 'manifests'>): StepContext {
  return { ...commandContext(settings), manifestsDir: folderOf(settings.manifests) }
}

/** The folder that the names of files are relative to: `--manifests` itself, or where it stands when it is a single file. */
export function folderOf(manifests: string): string {
  return statSync(manifests, { throwIfNoEntry: false })?.isFile() === true ? dirname(manifests) : manifests
}
