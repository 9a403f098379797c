import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Manifests that one file takes, so that a tree of a thousand is written and read in a moment. */
const IN_A_FILE = 50

/** Something that publishes one generation after another; each holds one manifest more than the one before. */
export interface Publisher {
  /** What to follow. */
  readonly root: string
  publish(generation: number): void
  /** The revision of a generation, where its name says it. */
  revision(generation: number): string | undefined
}

export interface LinkOptions {
  readonly base: string
  /** Path of the manifests below the link; an empty text: the link is the root. */
  readonly below: string
  /** Whether the tree of the generation before is removed once this one is published. */
  readonly removesBefore: (generation: number) => boolean
}

/** What git-sync does: a tree with the name of its commit, and a link that is renamed over the old one. */
export function createLinkPublisher({ base, below, removesBefore }: LinkOptions): Publisher {
  mkdirSync(join(base, '.worktrees'), { recursive: true })
  return {
    root: join(base, 'current', below),
    revision: commitName,
    publish(generation) {
      const tree = join('.worktrees', commitName(generation))
      for (const [name, text] of filesOf(generation)) write(join(base, tree, below, name), text)
      swap(base, 'current', tree)
      if (generation > 0 && removesBefore(generation)) {
        rmSync(join(base, '.worktrees', commitName(generation - 1)), { recursive: true })
      }
    },
  }
}

/** What the kubelet does: a hidden folder, `..data` renamed over, links for new files, and the old folder removed. */
export function createConfigMapPublisher(base: string): Publisher {
  const root = join(base, 'mount')
  const linked = new Set<string>()
  mkdirSync(root, { recursive: true })
  return {
    root,
    revision: () => undefined,
    publish(generation) {
      for (const [name, text] of filesOf(generation)) write(join(root, `..g${generation}`, name), text)
      swap(root, '..data', `..g${generation}`)
      for (const [name] of filesOf(generation)) {
        if (!linked.has(name)) symlinkSync(join('..data', name), join(root, name))
        linked.add(name)
      }
      if (generation > 0) rmSync(join(root, `..g${generation - 1}`), { recursive: true })
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
