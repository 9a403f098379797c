import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Manifests that one file takes, so that a tree of a thousand is written and read in a moment. */
const IN_A_FILE = 50

/**
 * What git-sync does: a tree with the name of its commit, and a link that is renamed over the old one. Each generation holds one
 * manifest more than the one before, whose tree is removed every other time.
 */
export function createLinkPublisher(base: string) {
  mkdirSync(join(base, '.worktrees'), { recursive: true })
  return {
    /** What to follow. */
    root: join(base, 'current'),
    publish(generation: number): void {
      const tree = join('.worktrees', commitName(generation))
      for (const [name, text] of filesOf(generation)) write(join(base, tree, name), text)
      swap(base, 'current', tree)
      if (generation > 0 && generation % 2 === 0) {
        rmSync(join(base, '.worktrees', commitName(generation - 1)), { recursive: true })
      }
    },
  }
}

/** The name of a commit that is known by its number. */
export function commitName(generation: number): string {
  return generation.toString(16).padStart(40, '0')
}

export function alertText(name: string, id: string): string {
  return `apiVersion: pipewright/v1\nkind: Alert\nmetadata: {name: ${name}}\nspec: {id: ${id}}\n`
}

export function alertName(number: number): string {
  return `n-${String(number).padStart(4, '0')}`
}

function filesOf(generation: number): readonly (readonly [string, string])[] {
  const files: (readonly [string, string])[] = []
  for (let first = 0; first <= generation; first += IN_A_FILE) {
    const count = Math.min(IN_A_FILE, generation + 1 - first)
    const texts = Array.from({ length: count }, (_, n) => {
      return alertText(alertName(first + n), `alert-${first + n}`)
    })
    files.push([`alerts-${String(first).padStart(4, '0')}.yaml`, texts.join('---\n')])
  }
  return files
}

/** A link under another name, renamed over the old one. */
export function swap(dir: string, name: string, target: string): void {
  symlinkSync(target, join(dir, `${name}_tmp`))
  renameSync(join(dir, `${name}_tmp`), join(dir, name))
}

export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
