import { expect } from 'vitest'
import type { Ask, MayTake, Taken } from '../../src/daemon/queue.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { Priority } from '../../src/contract/platform.ts'

interface Waiting extends Ask {
  readonly number: number
  readonly since: number
}

/** The queue said plainly: lists that are searched from end to end, and what a take must keep to. */
export function createModel() {
  const waiting = new Map<Key, Waiting>()
  const running = new Map<Key, { readonly service: string; again: Ask | undefined }>()
  // How often another service was served at a priority while this one was ready and open.
  const passedOver = new Map<string, number>()
  let arrivals = 0

  function wait(key: Key, ask: Ask): void {
    const before = waiting.get(key)
    if (before === undefined) {
      arrivals += 1
      waiting.set(key, { ...ask, number: arrivals, since: ask.dueAt })
      return
    }
    const since =
      ask.priority < before.priority
        ? ask.dueAt
        : ask.priority > before.priority
          ? before.since
          : Math.min(before.since, ask.dueAt)
    waiting.set(key, { ...before, ...merged(before, ask), since })
  }

  function due(now: number): [Key, Waiting][] {
    return [...waiting].filter(([, entry]) => entry.dueAt <= now)
  }

  function countPassedOver(taken: Taken, now: number, mayTake: MayTake): void {
    for (const service of ['a', 'b', 'c']) {
      const slot = `${service}${taken.priority}`
      const hasReady = due(now).some(([, one]) => one.service === service && one.priority === taken.priority)
      const open = mayTake(service, taken.priority)
      passedOver.set(
        slot,
        service !== taken.service && hasReady && open ? (passedOver.get(slot) ?? 0) + 1 : 0,
      )
      expect(passedOver.get(slot), `service ${service} was passed over`).toBeLessThanOrEqual(2)
    }
  }

  return {
    add(key: Key, ask: Ask): void {
      const run = running.get(key)
      if (run === undefined) wait(key, ask)
      else run.again = run.again === undefined ? ask : merged(run.again, ask)
    },
    done(key: Key): void {
      const again = running.get(key)?.again
      running.delete(key)
      if (again !== undefined) wait(key, again)
    },
    /** Checks what the queue handed out, and does the same. */
    taken(taken: Taken | undefined, now: number, mayTake: MayTake): void {
      const open = due(now).filter(([, one]) => mayTake(one.service, one.priority))
      const priority = Math.min(...open.map(([, one]) => one.priority))
      const firsts = open.filter(
        ([, one]) =>
          one.priority === priority &&
          !open.some(
            ([, other]) =>
              other.priority === priority && other.service === one.service && isFirst(other, one),
          ),
      )
      if (taken === undefined) {
        expect(firsts).toEqual([])
        return
      }
      expect(firsts.map(([key]) => key)).toContain(taken.key)
      const entry = waiting.get(taken.key)
      expect(taken).toMatchObject({
        priority: entry?.priority,
        service: entry?.service,
        waitedMs: Math.max(0, now - (entry?.since ?? now)),
      })
      countPassedOver(taken, now, mayTake)
      waiting.delete(taken.key)
      running.set(taken.key, { service: taken.service, again: undefined })
    },
    facts(now: number) {
      const ready = due(now).map(([, one]) => one)
      const later = [...waiting.values()].filter((one) => one.dueAt > now).map((one) => one.dueAt)
      const depth = (priority: Priority) => ready.filter((one) => one.priority === priority).length
      const services = new Set([...waiting.values(), ...running.values()].map((one) => one.service))
      return {
        depth: { 0: depth(0), 1: depth(1), 2: depth(2) },
        waiting: waiting.size,
        running: running.size,
        services: services.size,
        nextDueAt: later.length > 0 ? Math.min(...later) : undefined,
        oldest: now - Math.min(now, ...ready.map((one) => one.dueAt)),
      }
    },
  }
}

function isFirst(a: Waiting, b: Waiting): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.number < b.number)
}

function merged(before: Ask, ask: Ask): Ask {
  const priority = ask.priority < before.priority ? ask.priority : before.priority
  return { priority, dueAt: Math.min(before.dueAt, ask.dueAt), service: ask.service }
}
