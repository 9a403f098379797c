import { readdirSync, rmSync } from 'node:fs'
import { SERVICE } from '../../support/manifests.ts'
import type { Workspace } from '../../support/workspace.ts'
import { manifestOf } from './matrix-profile.ts'

/* The directory of manifests of the torture of deletions, and all that ever stood in it. */

/** What a manifest asks for. */
export interface Wish {
  /** `metadata.name`; also its file. */
  readonly key: string
  /** `spec.name`. */
  readonly pipe: string
  /** Its topic, which no request changes. Numbers stand for values. */
  readonly fixed: number
  readonly replicas: number
  readonly onRemove: 'delete' | 'orphan'
  readonly onImmutable: 'replace' | 'report'
}

/** The directory from then on. */
export interface Snapshot {
  /** ms since the epoch. */
  readonly at: number
  /** What was done to it. */
  readonly what: string
  /** By key; of an unreadable file what it said before. */
  readonly wishes: ReadonlyMap<string, Wish>
  /** Keys whose file nobody can read. */
  readonly unreadable: ReadonlySet<string>
  /** Whether all files are away for a moment. */
  readonly isEmptied: boolean
}

export interface Tree {
  readonly history: readonly Snapshot[]
  readonly now: Snapshot
  put(what: string, ...wishes: readonly Wish[]): void
  drop(what: string, ...keys: readonly string[]): void
  /** Writes half of a manifest. */
  spoil(key: string): void
  empty(): void
  restore(): void
}

function fileOf(key: string): string {
  return `manifests/${key}.yaml`
}

export function topicOf({ pipe, fixed }: Pick<Wish, 'pipe' | 'fixed'>): string {
  return `${pipe}-v${fixed}`
}

function textOf(wish: Wish): string {
  const { key, pipe, replicas, onRemove, onImmutable } = wish
  return manifestOf('clickhouse-cloud', key)
    .replace('spec:', `policy: {onRemove: ${onRemove}, onImmutable: ${onImmutable}}\nspec:\n  name: ${pipe}`)
    .replace(`topics: ${key}`, `topics: ${topicOf(wish)}`)
    .replace(`table: ${key}`, `table: ${pipe}`)
    .replace('replicas: 1', `replicas: ${replicas}`)
}

export function createTree(workspace: Workspace): Tree {
  const history: Snapshot[] = []
  const newest = (): Snapshot =>
    history.at(-1) ?? { at: 0, what: '', wishes: new Map(), unreadable: new Set(), isEmptied: false }

  /** What was done is noted before it is done: who acts upon it acts later. */
  function note(what: string, change: Partial<Omit<Snapshot, 'at' | 'what'>>): Snapshot {
    const next = { ...newest(), ...change, at: Date.now(), what }
    history.push(next)
    return next
  }

  function write(): void {
    const { wishes, unreadable } = newest()
    workspace.write('manifests/service.yaml', SERVICE)
    for (const wish of wishes.values())
      if (!unreadable.has(wish.key)) workspace.write(fileOf(wish.key), textOf(wish))
  }

  return {
    history,
    get now() {
      return newest()
    },
    put(what, ...wishes) {
      const before = newest()
      const all = new Map([...before.wishes, ...wishes.map((wish) => [wish.key, wish] as const)])
      const keys = new Set(wishes.map(({ key }) => key))
      note(what, { wishes: all, unreadable: new Set([...before.unreadable].filter((key) => !keys.has(key))) })
      if (history.length === 1) write()
      // What is empty stays so until it is restored.
      if (before.isEmptied) return
      for (const wish of wishes) workspace.write(fileOf(wish.key), textOf(wish))
    },
    drop(what, ...keys) {
      const { wishes, unreadable } = newest()
      const isLeft = (key: string) => !keys.includes(key)
      note(what, {
        wishes: new Map([...wishes].filter(([key]) => isLeft(key))),
        unreadable: new Set([...unreadable].filter(isLeft)),
      })
      for (const key of keys) rmSync(workspace.path(fileOf(key)), { force: true })
    },
    spoil(key) {
      note(`${key} is spoiled`, { unreadable: new Set([...newest().unreadable, key]) })
      workspace.write(fileOf(key), 'apiVersion: pipewright/v1\nkind: [Pipe\nmetadata: {')
    },
    empty() {
      note('the directory is emptied', { isEmptied: true })
      for (const name of readdirSync(workspace.manifests)) rmSync(`${workspace.manifests}/${name}`)
    },
    restore() {
      note('the directory is restored', { isEmptied: false })
      write()
    },
  }
}
