import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { otherLedger, type Settings } from '../config/settings.ts'
import { AS_SAID, type CommandContext } from '../server/command-line.ts'
import type { StepContext } from '../server/remedy.ts'

type Here = Pick<Settings, 'sandbox' | 'ledger'> & Partial<Pick<Settings, 'server'>>

/** What a command that is said here has to name. */
export function commandContext(settings: Here): CommandContext {
  return { sandbox: settings.sandbox, ledger: otherLedger(settings), server: settings.server }
}

/** The same of what came from a daemon, if one was asked: it has put in what a command has to name there. */
export function replyContext(settings: Here): CommandContext {
  return settings.server === undefined ? commandContext(settings) : AS_SAID
}

/** What the steps that are said here have to name. */
export function stepContext(settings: Here & Pick<Settings, 'manifests'>): StepContext {
  return { ...commandContext(settings), manifestsDir: folderOf(settings.manifests) }
}

/** The folder that the names of files are relative to: `--manifests` itself, or where it stands when it is a single file. */
export function folderOf(manifests: string): string {
  return statSync(manifests, { throwIfNoEntry: false })?.isFile() === true ? dirname(manifests) : manifests
}
