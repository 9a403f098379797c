import type { HistoryEntry } from '../../contract/history.ts'
import type { ServerParts } from '../parts.ts'

/** Lines that are asked for first: mostly there are fewer new ones. */
const PROBES = [100, 1_000] as const

/** So many lines in a row are known again. */
const ALIKE = 3

/** Nobody looked at it for so long: ms. */
const FORGET_MS = 60_000

/** A ledger keeps no more lines. */
export const ALL_KEPT = 10_000

/** The history of all resources, newest first. What was read before is not read again: lines are only ever added. */
export interface HistoryReader {
  /** @param limit at most {@link ALL_KEPT} */
  read(limit: number): Promise<HistoryReading>
  close(): void
}

export interface HistoryReading {
  /** Newest first. */
  readonly entries: readonly HistoryEntry[]
  /** Other than before when there are other lines. */
  readonly version: number
}

interface Kept extends HistoryReading {
  /** How many lines were asked for. */
  readonly limit: number
}

export function createHistoryReader({
  history,
  clock,
}: Pick<ServerParts, 'history' | 'clock'>): HistoryReader {
  let kept: Kept | undefined
  let version = 0
  let cancelForget: (() => void) | undefined

  function keep(entries: readonly HistoryEntry[], limit: number): Kept {
    version += 1
    kept = { entries, limit, version }
    return kept
  }

  async function readNow(limit: number): Promise<Kept> {
    for (const probe of PROBES) {
      if (kept === undefined || kept.limit < limit || probe >= limit) break
      const newest = await history({ key: undefined, limit: probe })
      const known: Kept | undefined = kept // it may have been forgotten meanwhile
      if (known === undefined) break
      const fresh = placeOf(known.entries, newest)
      if (fresh === 0) return known
      if (fresh !== undefined)
        return keep([...newest.slice(0, fresh), ...known.entries].slice(0, ALL_KEPT), known.limit)
    }
    return keep(await history({ key: undefined, limit }), limit)
  }

  return {
    async read(limit) {
      cancelForget?.()
      cancelForget = clock.after(FORGET_MS, () => (kept = undefined))
      const { entries, ...reading } = await readNow(limit)
      return { ...reading, entries: entries.slice(0, limit) }
    },
    close() {
      cancelForget?.()
      kept = undefined
    },
  }
}

/** How many of the newest lines were not known. Undefined: too few of the known ones are among them. */
function placeOf(known: readonly HistoryEntry[], newest: readonly HistoryEntry[]): number | undefined {
  const before = known.slice(0, newest.length).map((entry) => JSON.stringify(entry))
  const texts = newest.map((entry) => JSON.stringify(entry))
  const at = texts.findIndex((_, start) => before.every((text, index) => isSame(text, texts[start + index])))
  return at === -1 || texts.length - at < ALIKE ? undefined : at
}

/** Undefined: further back than was read. */
function isSame(text: string, other: string | undefined): boolean {
  return other === undefined || other === text
}
