import { setTimeout as pause } from 'node:timers/promises'
import type { Sandbox } from '../../../src/sandbox/sandbox-server.ts'
import type { Random } from '../../torture/random.ts'
import { topicIn } from './delete-pipes.ts'
import { topicOf, type Tree, type Wish } from './delete-tree.ts'

/* Who edits manifests and pipes while the torture of deletions goes on, by chance. */

/** A pipe that somebody changed in the console. */
export interface HandEdit {
  readonly at: number
  readonly id: string
  /** Whether a manifest says something of this field. */
  readonly isAskedFor: boolean
  /** ms since the epoch; undefined: nobody undid it. */
  undoneAt: number | undefined
}

export interface Allowance {
  /** When it was asked for, and when the answer came: ms since the epoch. */
  readonly at: number
  readonly until: number
}

export interface PersonParts {
  readonly random: Random
  readonly tree: Tree
  readonly platform: Sandbox
  readonly edits: HandEdit[]
  readonly allow: () => Promise<void>
}

export const BROKERS = 'b-1.example:9092'
/** What a person waits at most before what is removed is brought back: ms. */
const REGRET_MS = 20_000

/** Works until it is told to stop, and leaves a directory that can be read. */
export async function work(parts: PersonParts, stopping: AbortSignal): Promise<void> {
  const { random, tree, platform } = parts
  const gone: { readonly wish: Wish; readonly at: number }[] = []
  const schemes: Promise<void>[] = []
  let nextPipe = 0
  const present = () => [...tree.now.wishes.values()]
  const atFirst = present().length

  function remove(count: number): void {
    const some = Array.from({ length: count }, () => random.pick(present()))
    const wishes = [...new Map(some.map((wish) => [wish.key, wish])).values()]
    tree.drop(`removed: ${wishes.map(({ key }) => key).join(', ')}`, ...wishes.map(({ key }) => key))
    gone.push(...wishes.map((wish) => ({ wish, at: Date.now() })))
  }

  function bringBack(): void {
    if (gone.length === 0) return
    const [one] = gone.splice(random.below(gone.length), 1)
    if (one === undefined || present().some(({ pipe }) => pipe === one.wish.pipe)) return
    const wish = random.weighted([
      [8, one.wish],
      [1, { ...one.wish, fixed: one.wish.fixed + 1 }],
      [1, { ...one.wish, onRemove: one.wish.onRemove === 'delete' ? 'orphan' : 'delete' }],
    ] satisfies [number, Wish][])
    tree.put(`brought back: ${say(wish)}`, wish)
  }

  async function rename(): Promise<void> {
    const wish = random.pick(present())
    const key = `${wish.pipe}-r${(nextPipe += 1)}`
    const next = random.weighted([
      [5, { ...wish, key }],
      [2, { ...wish, key, fixed: wish.fixed + 1 }],
      [2, { ...wish, key, pipe: key, fixed: 0 }],
    ])
    const steps = [
      () => tree.drop(`renamed: ${wish.key} goes`, wish.key),
      () => tree.put(`renamed: ${say(next)} comes for ${wish.key}`, next),
    ]
    if (random.chance(0.3)) steps.reverse()
    steps[0]?.()
    if (random.chance(0.4)) await pause(random.between(0, 2_000))
    steps[1]?.()
  }

  function edit(change: (wish: Wish) => Wish): void {
    const wish = change(random.pick(present()))
    tree.put(`edited: ${say(wish)}`, wish)
  }

  async function moment(begin: () => void, end: () => void): Promise<void> {
    begin()
    await pause(random.chance(0.1) ? random.between(10_500, 13_000) : random.between(100, 3_000))
    end()
  }

  /** Removed, brought back within the grace, and removed again: it begins anew. */
  async function hesitate(wish: Wish): Promise<void> {
    tree.drop(`removed: ${wish.key}, which comes back`, wish.key)
    await pause(random.between(3_000, 8_000))
    if (present().some(({ pipe }) => pipe === wish.pipe)) return
    tree.put(`back again: ${say(wish)}`, wish)
    await pause(random.between(3_000, 5_000))
    tree.drop(`removed again: ${wish.key}`, wish.key)
    gone.push({ wish, at: Date.now() })
  }

  /** Removed, and edited by hand within the grace. */
  async function editLate(wish: Wish): Promise<void> {
    tree.drop(`removed: ${wish.key}, whose pipe is edited`, wish.key)
    gone.push({ wish, at: Date.now() })
    await pause(random.between(500, 9_000))
    const pipe = platform.pipes().find(({ name }) => name === wish.pipe)
    if (pipe !== undefined) changeByHand(parts, pipe.id)
  }

  function scheme(how: (wish: Wish) => Promise<void>): void {
    const some = present().filter(({ onRemove }) => onRemove === 'delete')
    if (some.length > 0) schemes.push(how(random.pick(some)))
  }

  function undoImmutable(): void {
    const wish = present().find(({ fixed, onImmutable }) => fixed > 0 && onImmutable === 'replace')
    if (wish === undefined) return
    const before = { ...wish, fixed: wish.fixed - 1 }
    tree.put(`undone: ${say(before)}`, before)
  }

  /** Whether more would only be held back by the limit. */
  function isMuch(): boolean {
    const going = gone.filter(({ wish, at }) => wish.onRemove === 'delete' && Date.now() - at < 13_000)
    const replacing = present().filter((wish) => isReplaced(wish, platform))
    return going.length + replacing.length >= Math.max(1, Math.floor(platform.pipes().length / 10))
  }

  await pause(500)
  while (!stopping.aborted) {
    const few = isMuch() ? 0.25 : 1
    const act = random.weighted<() => void | Promise<void>>([
      [5 * few, () => remove(random.chance(0.75) ? 1 : 2)],
      [0.6 * few, () => remove(6)],
      [1.5 * few, () => scheme(hesitate)],
      [1.5 * few, () => scheme(editLate)],
      [gone.length > 1 ? 2 : 1, bringBack],
      [1.2, rename],
      [1, () => edit((wish) => ({ ...wish, onRemove: wish.onRemove === 'delete' ? 'orphan' : 'delete' }))],
      [0.5, () => edit((wish) => ({ ...wish, onImmutable: random.pick(['replace', 'report']) }))],
      [4 * few, () => edit((wish) => ({ ...wish, fixed: wish.fixed + 1, onImmutable: 'replace' }))],
      [0.6, undoImmutable],
      [0.7, () => edit((wish) => ({ ...wish, replicas: 3 - wish.replicas }))],
      [1, () => editByHand(parts)],
      [
        0.25,
        () =>
          moment(
            () => tree.empty(),
            () => tree.restore(),
          ),
      ],
      [0.4, () => spoil(parts, moment)],
      [0.5, parts.allow],
    ])
    // A reading that lost most of its manifests is not accepted.
    if (present().length > atFirst * 0.7) await act()
    else bringBack()
    for (const late of gone.filter(({ at }) => Date.now() - at > REGRET_MS)) {
      if (random.chance(0.5)) gone.splice(gone.indexOf(late), 1)
    }
    await pause(random.between(100, 1_000))
  }
  await Promise.all(schemes)
}

function isReplaced({ onImmutable, ...wish }: Wish, platform: Sandbox): boolean {
  const pipe = platform.pipes().find(({ name }) => name === wish.pipe)
  return onImmutable === 'replace' && pipe !== undefined && topicIn(pipe) !== topicOf(wish)
}

function say({ key, pipe, fixed, replicas, onRemove, onImmutable }: Wish): string {
  return `${key} (${topicOf({ pipe, fixed })}, ${replicas} replicas, onRemove ${onRemove}, onImmutable ${onImmutable})`
}

async function spoil(
  { random, tree }: PersonParts,
  moment: (begin: () => void, end: () => void) => Promise<void>,
): Promise<void> {
  const wish = random.pick([...tree.now.wishes.values()])
  await moment(
    () => tree.spoil(wish.key),
    () => tree.put(`mended: ${say(wish)}`, wish),
  )
}

/** Changes a pipe, or undoes what was changed. Those that are to go are the more likely ones. */
function editByHand(parts: PersonParts): void {
  const { random, tree, platform, edits } = parts
  const open = edits.filter(({ undoneAt }) => undoneAt === undefined)
  const pipes = platform.pipes()
  const undone = random.chance(0.35)
    ? open.find(({ id, isAskedFor }) => isAskedFor && pipes.some((pipe) => pipe.id === id))
    : undefined
  if (undone !== undefined) {
    for (const edit of open) if (edit.id === undone.id && edit.isAskedFor) edit.undoneAt = Date.now()
    platform.change(undone.id, { source: { kafka: { brokers: BROKERS } } })
    return
  }
  const wanted = new Set([...tree.now.wishes.values()].map(({ pipe }) => pipe))
  const replaced = new Set(
    [...tree.now.wishes.values()].filter((wish) => isReplaced(wish, platform)).map(({ pipe }) => pipe),
  )
  const goes = pipes.filter(({ name }) => !wanted.has(name) || replaced.has(name))
  const from = goes.length > 0 && random.chance(0.4) ? goes : pipes
  if (from.length === 0) return
  changeByHand(parts, random.pick(from).id)
}

function changeByHand({ random, platform, edits }: PersonParts, id: string): void {
  const isAskedFor = random.chance(0.6)
  edits.push({ at: Date.now(), id, isAskedFor, undoneAt: undefined })
  const number = 1_000 + random.below(100)
  platform.change(
    id,
    isAskedFor
      ? { source: { kafka: { brokers: `b-${number}.example:9092` } } }
      : { settings: { streaming_max_insert_wait_ms: number } },
  )
}
