import type { Lineage } from '../lineage.ts'
import type { Random } from '../random.ts'
import { isOfDatabase, type Wish } from './wish.ts'

/** An edit of what a manifest asks for; undefined: it does not fit this one. */
type WishEdit = (wish: Wish, random: Random) => Wish | undefined

const EDITS: readonly (readonly [weight: number, name: string, edit: WishEdit])[] = [
  [4, 'size', onStreams((wish) => ({ ...wish, size: 1 + ((wish.size + 1) % 20) }))],
  [4, 'wait', (wish) => ({ ...wish, wait: wish.wait + 1 })],
  [4, 'columns', onStreams((wish, random) => ({ ...wish, columns: 1 + random.below(4) }))],
  [3, 'host', onDatabases((wish) => ({ ...wish, host: wish.host + 1 }))],
  [8, 'table added', onDatabases(tableAdded)],
  [4, 'table removed', onDatabases(tableRemoved)],
  [3, 'table copied in another way', onDatabases(tableCut)],
  [2, 'what never changes', (wish) => ({ ...wish, fixed: wish.fixed + 1 })],
  [3, 'what never changes, undone', (wish) => (wish.fixed > 0 ? { ...wish, fixed: 0 } : undefined)],
  [4, 'paused', (wish) => (wish.paused === true ? undefined : { ...wish, paused: true })],
  [4, 'to run', (wish) => (wish.paused === false ? undefined : { ...wish, paused: false })],
  [
    3,
    'paused is not said',
    (wish) => (wish.paused === undefined ? undefined : { ...wish, paused: undefined }),
  ],
  [2, 'drift corrected', (wish) => ({ ...wish, onDrift: 'correct' })],
  [1, 'drift reported', (wish) => ({ ...wish, onDrift: undefined })],
]

/** Edits what the manifest of a pipe asks for. @returns what was edited; undefined: nothing fits */
export function editWish(lineage: Lineage, random: Random): string | undefined {
  const { wish } = lineage
  if (wish === undefined) return undefined
  const possible = EDITS.flatMap(([weight, name, edit]) => {
    const next = edit(wish, random)
    return next === undefined ? [] : [[weight, { name, next }] as const]
  })
  const { name, next } = random.weighted(possible)
  lineage.wish = next
  if (next.paused === true) lineage.wasStopped = true
  return name
}

/** A person sees that something did not take effect, and edits it once more. */
export function editAgain(lineage: Lineage): void {
  if (lineage.wish !== undefined) lineage.wish = { ...lineage.wish, wait: lineage.wish.wait + 1 }
}

function onStreams(edit: WishEdit): WishEdit {
  return (wish, random) => (isOfDatabase(wish) ? undefined : edit(wish, random))
}

function onDatabases(edit: WishEdit): WishEdit {
  return (wish, random) => (isOfDatabase(wish) ? edit(wish, random) : undefined)
}

function tableAdded(wish: Wish, random: Random): Wish | undefined {
  const table = `t${random.below(6)}`
  return table in wish.tables
    ? undefined
    : { ...wish, tables: { ...wish.tables, [table]: random.chance(0.3) } }
}

function tableRemoved(wish: Wish, random: Random): Wish | undefined {
  const names = Object.keys(wish.tables)
  if (names.length < 2) return undefined
  const { [random.pick(names)]: _, ...tables } = wish.tables
  return { ...wish, tables }
}

function tableCut(wish: Wish, random: Random): Wish {
  const table = random.pick(Object.keys(wish.tables))
  return { ...wish, tables: { ...wish.tables, [table]: wish.tables[table] !== true } }
}
