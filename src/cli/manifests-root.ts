import { existsSync, statSync } from 'node:fs'
import { MANIFESTS } from '../config/settings.ts'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

/* For a command typed outside the manifests directory. */

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

export function isIn(path: string, root: string): boolean {
  const below = relative(resolve(root), resolve(path))
  return below !== '..' && !below.startsWith(`..${sep}`)
}

/** Relative to the current directory. */
export function usualRootAround(path: string): string | undefined {
  for (let dir = resolve(path); dir !== dirname(dir); dir = dirname(dir)) {
    if (basename(dir) === MANIFESTS && isDirectory(dir)) return typed(dir)
  }
  return undefined
}

/** Derived from the named files. */
interface AssumedRoot {
  readonly root: string
  /** A hint, if the directory does not have the default name. */
  readonly note: string | undefined
}

/**
 * The common directory of the default name around the files, else their folder.
 * @returns undefined if it is the default, or if they have none in common
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

/** Relative to the current directory. */
function typed(dir: string): string {
  const below = relative('.', dir)
  if (below === '') return '.'
  const up = below.split(sep).filter((step) => step === '..').length
  return up > 3 ? join(dir) : below
}
