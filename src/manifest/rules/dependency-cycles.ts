import type { Key } from '../../kinds/key.ts'
import { compareTexts } from '../diagnostics/diagnostic.ts'

/**
 * The circles in a graph of dependencies, each once, as a path that begins with its first key and whose last one
 * leads back to it. Keys that only lead into a circle are in none. Uses no recursion: chains may be long.
 */
export function dependencyCircles(edges: ReadonlyMap<Key, readonly Key[]>): readonly (readonly Key[])[] {
  return components(edges)
    .map((component) => shortestCircle(edges, component))
    .filter((circle) => circle !== undefined)
    .flatMap((circle) => circle)
}

/** Every member of a component is in some circle; each gets one that passes through it. */
function shortestCircle(edges: ReadonlyMap<Key, readonly Key[]>, component: readonly Key[]) {
  const members = new Set(component)
  const covered = new Set<Key>()
  const circles: (readonly Key[])[] = []
  for (const start of component.toSorted(compareTexts)) {
    if (covered.has(start)) continue
    const circle = circleThrough(edges, members, start)
    if (circle === undefined) continue
    const fresh = circle.filter((key) => !covered.has(key))
    for (const key of circle) covered.add(key)
    if (fresh.length > 0) circles.push(circle)
  }
  return circles.length === 0 ? undefined : circles
}

/** The shortest way from `start` back to itself within one component. */
function circleThrough(
  edges: ReadonlyMap<Key, readonly Key[]>,
  members: ReadonlySet<Key>,
  start: Key,
): readonly Key[] | undefined {
  const from = new Map<Key, Key>()
  const queue: Key[] = [start]
  for (const key of queue) {
    for (const next of edges.get(key) ?? []) {
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
