import type { Key } from '../../kinds/key.ts'
import type { Clock } from '../../lib/clock.ts'
import { limitGroupOf, MADE_FOR_MS, madeAt } from '../../plan/create-limit.ts'
import type { LedgerRecord } from '../../plan/record.ts'

/** A creation of the last hour. */
export interface Made {
  readonly key: Key
  /** As the record says it: by the clock of whoever sent it. */
  readonly said: number
  /** On the steady clock. */
  readonly at: number
  readonly group: string
}

/** Creations of the last hour by service, kept up to date from the records. What a person forgets counts no more. */
export interface MadeCreations {
  note(before: LedgerRecord | undefined, record: LedgerRecord): void
  drop(key: Key): void
  /** Oldest first. */
  in(group: string): readonly Made[]
}

/** @param steadyNow as in the store that owns this */
export function createMadeCreations(clock: Clock, steadyNow: () => number): MadeCreations {
  const ofKey = new Map<Key, readonly Made[]>()
  /** Each in the order of time. */
  const groups = new Map<string, Made[]>()

  /**
   * When that was, on the steady clock. Of the two clocks of this process the one is believed that makes it younger, and a time to
   * come is now: so a clock that is set lets no more pass, and holds nothing for more than an hour.
   */
  function steadily(said: number): number {
    const now = steadyNow()
    return now - Math.max(0, Math.min(now, clock.now()) - said)
  }

  function add(made: Made): void {
    const all = groups.get(made.group) ?? []
    groups.set(made.group, all)
    let place = all.length
    while (place > 0 && (all[place - 1]?.at ?? 0) > made.at) place -= 1
    all.splice(place, 0, made)
  }

  function remove(made: Made): void {
    const all = groups.get(made.group) ?? []
    const place = all.lastIndexOf(made)
    if (place >= 0) all.splice(place, 1)
    if (all.length === 0) groups.delete(made.group)
  }

  function drop(key: Key): void {
    for (const made of ofKey.get(key) ?? []) remove(made)
    ofKey.delete(key)
  }

  return {
    note(before, record) {
      const { key, service } = record
      const group = groupOf(record)
      const said = madeAt(record)
      const was = before === undefined ? [] : madeAt(before)
      if (
        group === groupOf(before) &&
        said.length === was.length &&
        said.every((at, index) => at === was[index])
      )
        return
      const known = ofKey.get(key) ?? []
      drop(key)
      if (service === undefined || group === undefined) return
      const oldest = steadyNow() - MADE_FOR_MS
      const made = said.flatMap((time): readonly Made[] => {
        const same = known.find((each) => each.said === time)
        // One that was counted before and is not known any more is an hour old.
        if (same === undefined && was.includes(time)) return []
        const at = same?.at ?? steadily(time)
        return at > oldest ? [{ key, said: time, at, group }] : []
      })
      if (made.length === 0) return
      ofKey.set(key, made)
      for (const each of made) add(each)
    },
    drop,
    in(group) {
      const all = groups.get(group)
      if (all === undefined) return []
      const oldest = steadyNow() - MADE_FOR_MS
      const old = all.findIndex(({ at }) => at > oldest)
      if (old !== 0) {
        for (const { key, at } of all.splice(0, old < 0 ? all.length : old)) {
          const left = (ofKey.get(key) ?? []).filter((each) => each.at > at)
          if (left.length === 0) ofKey.delete(key)
          else ofKey.set(key, left)
        }
        if (all.length === 0) groups.delete(group)
      }
      return all
    },
  }
}

function groupOf(record: LedgerRecord | undefined): string | undefined {
  return record?.service && limitGroupOf(record.service)
}
