import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Settings } from '../config/settings.ts'
import type { StepContext } from '../plan/step.ts'
import type { Key } from '../kinds/key.ts'
import { knownKey, MANIFEST_KINDS } from '../kinds/lookup.ts'
import { nearest } from '../lib/nearest.ts'
import { escapeControls } from '../lib/shown-text.ts'
import { misuse } from './io.ts'

export function stepContext({ typed, manifests }: Pick<Settings, 'typed' | 'manifests'>): StepContext {
  return { typed, manifestsDir: folderOf(manifests) }
}

/** @returns `manifests`, or if it is a file, the folder of the file */
export function folderOf(manifests: string): string {
  return statSync(manifests, { throwIfNoEntry: false })?.isFile() === true ? dirname(manifests) : manifests
}

export function typedKind(text: string): string {
  return MANIFEST_KINDS.find((kind) => kind.toLowerCase() === text.toLowerCase()) ?? text
}

export function typedKey(text: string): Key | undefined {
  const [kind = '', ...name] = text.split('/')
  return knownKey([typedKind(kind), ...name].join('/'))
}

export function keyFrom(text: string): Key {
  const key = typedKey(text)
  if (key !== undefined) return key
  misuse(`"${escapeControls(text)}" is not a key: give Kind/name, such as Pipe/orders.`)
}

export function didYouMean(
  word: string,
  known: readonly string[],
  otherwise = '"pipewright status" lists all keys.',
): string {
  const near = known.find((one) => one.endsWith(`/${word}`)) ?? nearest(word, known)
  return near === undefined ? otherwise : `Did you mean ${near}?`
}
