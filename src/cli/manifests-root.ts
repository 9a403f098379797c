import { existsSync, statSync } from 'node:fs'
import { MANIFESTS } from '../config/settings.ts'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

/* Which directory of manifests is meant by a command that was typed elsewhere. */

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Whether a path is a directory, or in it. */
export function isIn(path: string, root: string): boolean {
  const below = relative(resolve(root), resolve(path))
  return below !== '..' && !below.startsWith(`..${sep}`)
}

/** The directory of the usual name around a path, as one would type it here; the nearest one. */
export function usualRootAround(path: string): string | undefined {
  for (let dir = resolve(path); dir !== dirname(dir); dir = dirname(dir)) {
    if (basename(dir) === MANIFESTS && isDirectory(dir)) return typed(dir)
  }
  return undefined
}

/** What is read because of the files that are named, where nobody said what to read. */
export interface AssumedRoot {
  readonly root: string
  /** Said when it is no directory of the usual name. */
  readonly note: string | undefined
}

/**
 * The directory of manifests that files belong to: the one of the usual name around them, or the folder in which they stand.
 * @returns undefined where they need no other one than the usual, or have none in common
 */
export function assumedRoot(files: readonly string[]): AssumedRoot | undefined {
  const [first] = files
  if (first === undefined || files.every((file) => isIn(file, MANIFESTS))) return undefined
  if (!files.every((file) => existsSync(file))) return undefined
  const around = usualRootAround(dirname(resolve(first)))
  if (around !== undefined)
    return files.every((file) => isIn(file, around)) ? { root: around, note: undefined } : undefined
  const folder = dirname(resolve(first))
  if (isDirectory(first) || files.some((file) => dirname(resolve(file)) !== folder)) return undefined
  const root = typed(folder)
  return {
    root,
    note: `No directory of manifests is given, so ${root === '.' ? 'this folder' : root} is read as one: what stands elsewhere seems to be missing. To read more, add --manifests DIR.`,
  }
}

/** As one would type it here. */
function typed(dir: string): string {
  const below = relative('.', dir)
  if (below === '') return '.'
  const up = below.split(sep).filter((step) => step === '..').length
  return up > 3 ? join(dir) : below
}
