import type { Key } from '../../kinds/key.ts'
import { compareTexts } from '../diagnostics/diagnostic.ts'

/** What depends on itself by way of others. */
export interface Circles {
  /** Each once, as a path that begins with its first key and whose last one leads back to it. */
  readonly circles: readonly (readonly Key[])[]
  /** Members of some circle that was not looked for: there are too many. */
  readonly tangled: readonly Key[]
}

/** Steps in search of circles for each key and each dependency there is; after that, what is in one is said, and not which. */
const STEPS_EACH = 5

/**
 * The circles in a graph of dependencies. Keys that only lead into a circle are in none. Uses no recursion: chains may be long.
 */
export function dependencyCircles(edges: ReadonlyMap<Key, readonly Key[]>): Circles {
  const size = edges.values().reduce((sum, targets) => sum + 1 + targets.length, 0)
  const search: Search = { edges, left: STEPS_EACH * size }
  const circles: (readonly Key[])[] = []
  const tangled: Key[] = []
  for (const component of components(edges)) {
    const found = shortestCircles(search, component)
    for (const circle of found.circles) circles.push(circle)
    for (const key of found.tangled) tangled.push(key)
  }
  return { circles, tangled }
}

interface Search {
  readonly edges: ReadonlyMap<Key, readonly Key[]>
  /** Steps that are left. */
  left: number
}

/** Every member of a component of several is in some circle; each gets one that passes through it. */
function shortestCircles(search: Search, component: readonly Key[]): Circles {
  const members = new Set(component)
  const covered = new Set<Key>()
  const circles: (readonly Key[])[] = []
  const tangled: Key[] = []
  for (const start of component.toSorted(compareTexts)) {
    if (covered.has(start)) continue
    if (search.left <= 0) {
      if (component.length > 1) tangled.push(start)
      continue
    }
    const circle = circleThrough(search, members, start)
    if (circle === undefined) continue
    for (const key of circle) covered.add(key)
    circles.push(circle)
  }
  return { circles, tangled }
}

/** The shortest way from `start` back to itself within one component. */
function circleThrough(search: Search, members: ReadonlySet<Key>, start: Key): readonly Key[] | undefined {
  const from = new Map<Key, Key>()
  const queue: Key[] = [start]
  for (const key of queue) {
    for (const next of search.edges.get(key) ?? []) {
      search.left -= 1
      if (next === start) return wayBack(from, start, key)
      if (!members.has(next) || from.has(next)) continue
      from.set(next, key)
      queue.push(next)
    }
  }
  return undefined
}

function wayBack(from: ReadonlyMap<Key, Key>, start: Key, end: Key): readonly Key[] {
  const path: Key[] = []
  for (let key: Key | undefined = end; key !== undefined && key !== start; key = from.get(key)) path.push(key)
  return [start, ...path.toReversed()]
}

interface Visit {
  readonly key: Key
  next: number
}

/** Tarjan's strongly connected components, with a stack of its own. */
function components(edges: ReadonlyMap<Key, readonly Key[]>): readonly (readonly Key[])[] {
  const index = new Map<Key, number>()
  const low = new Map<Key, number>()
  const open: Key[] = []
  const isOpen = new Set<Key>()
  const found: (readonly Key[])[] = []
  const enter = (key: Key): Visit => {
    index.set(key, index.size)
    low.set(key, index.size - 1)
    open.push(key)
    isOpen.add(key)
    return { key, next: 0 }
  }
  const lower = (key: Key, value: number) => low.set(key, Math.min(low.get(key) ?? value, value))
  for (const root of edges.keys()) {
    if (index.has(root)) continue
    const visits = [enter(root)]
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const target = edges.get(visit.key)?.[visit.next]
      visit.next += 1
      if (target !== undefined) {
        if (!index.has(target)) visits.push(enter(target))
        else if (isOpen.has(target)) lower(visit.key, index.get(target) ?? 0)
        continue
      }
      visits.pop()
      const parent = visits.at(-1)
      if (parent !== undefined) lower(parent.key, low.get(visit.key) ?? 0)
      if (low.get(visit.key) === index.get(visit.key)) {
        const component = open.splice(open.lastIndexOf(visit.key))
        for (const key of component) isOpen.delete(key)
        found.push(component)
      }
    }
  }
  return found
}
