import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { otherFolder, otherLedger, type Settings, usualManifests } from '../config/settings.ts'
import type { Profile } from '../kinds/profile.ts'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { PROFILES } from '../kinds/profiles/profiles.ts'
import type { Activity } from '../contract/activity.ts'
import { AS_SAID, type CommandContext } from '../server/command-line.ts'
import type { StepContext } from '../server/shown-resource.ts'

export type Here = Pick<Settings, 'sandbox' | 'profile' | 'ledger'> &
  Partial<Pick<Settings, 'manifests' | 'baseUrl' | 'credentialsDir' | 'secretsDir' | 'server'>>

export function commandContext(settings: Here): CommandContext {
  const { sandbox, profile, manifests, baseUrl, server } = settings
  const ledger = otherLedger(settings)
  return {
    sandbox,
    ledger,
    profile: otherProfile(profile),
    manifests:
      manifests === undefined ? undefined : otherManifests(manifests, usualManifests(settings), ledger),
    baseUrl,
    credentialsDir: otherFolder('credentialsDir', settings),
    secretsDir: otherFolder('secretsDir', settings),
    server,
  }
}

function otherProfile({ name }: Profile): string | undefined {
  return name === DEFAULT.name ? undefined : name
}

/** An absolute ledger needs an absolute manifests directory. */
function otherManifests(manifests: string, usual: string, ledger: string | undefined): string | undefined {
  const path = resolve(manifests)
  return ledger === undefined && path === resolve(usual) ? undefined : path
}

/** As {@link commandContext}. A daemon's reply already includes the daemon's options. */
export function replyContext(settings: Here): CommandContext {
  return settings.server === undefined ? commandContext(settings) : AS_SAID
}

type Left = Pick<Activity, 'profile' | 'manifests' | 'baseUrl' | 'credentialsDir' | 'secretsDir'>

/** Fills unset settings. @param last the ledger's last process */
export function settingsOfDaemon<S extends Here>(settings: S, last: Partial<Left> | undefined): S {
  const profile = PROFILES.find(({ name }) => name === last?.profile) ?? settings.profile
  const usual = usualManifests({ ...settings, profile })
  const { manifests = usual, baseUrl = last?.baseUrl } = settings
  const isSame = manifests !== usual || last?.manifests === undefined || last.manifests === resolve(usual)
  return {
    ...settings,
    profile,
    manifests: isSame ? manifests : last.manifests,
    baseUrl,
    credentialsDir: folderLeft('credentialsDir', settings, last),
    secretsDir: folderLeft('secretsDir', settings, last),
  }
}

function folderLeft(
  name: 'credentialsDir' | 'secretsDir',
  settings: Here,
  last: Partial<Left> | undefined,
): string | undefined {
  return otherFolder(name, settings) === undefined ? (last?.[name] ?? settings[name]) : settings[name]
}

export function worksWith(
  settings: Pick<Settings, 'profile' | 'manifests' | 'baseUrl' | 'sandbox' | 'credentialsDir' | 'secretsDir'>,
): Left {
  return {
    profile: otherProfile(settings.profile),
    manifests: resolve(settings.manifests),
    baseUrl: settings.baseUrl,
    credentialsDir: otherFolder('credentialsDir', settings),
    secretsDir: otherFolder('secretsDir', settings),
  }
}

export function stepContext(settings: Here & Pick<Settings, 'manifests'>): StepContext {
  return { ...commandContext(settings), manifestsDir: folderOf(settings.manifests) }
}

/** Base of relative file names: `--manifests`, or its folder if it is a file. */
export function folderOf(manifests: string): string {
  return statSync(manifests, { throwIfNoEntry: false })?.isFile() === true ? dirname(manifests) : manifests
}
