import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Settings } from '../config/settings.ts'
import type { StepContext } from '../plan/step.ts'

export function stepContext({
  sandbox,
  profile,
  config,
  server,
  manifests,
}: Pick<Settings, 'sandbox' | 'profile' | 'config' | 'server' | 'manifests'>): StepContext {
  return { sandbox, profile, config, server, manifestsDir: folderOf(manifests) }
}

/** @returns `manifests`, or if it is a file, the folder of the file */
export function folderOf(manifests: string): string {
  return statSync(manifests, { throwIfNoEntry: false })?.isFile() === true ? dirname(manifests) : manifests
}
