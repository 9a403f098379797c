import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it. Node's own `recursive` spins for ever where a parent answers ENOENT although it
 * is there (`/proc`), and hides a read-only file system behind ENOENT.
 * @throws the error of the first folder that could not be made
 */
export function makeFolder(folder: string, options: { readonly mode?: number } = {}): void {
  if (tryToMake(folder, options) === 'no parent') {
    makeFolder(dirname(folder), options)
    if (tryToMake(folder, options) === 'no parent') mkdirSync(folder, options)
  }
}

function tryToMake(folder: string, options: { readonly mode?: number }): 'there' | 'no parent' {
  try {
    mkdirSync(folder, options)
    return 'there'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return 'there'
    if (code === 'ENOENT' && dirname(folder) !== folder) return 'no parent'
    throw error
  }
}
