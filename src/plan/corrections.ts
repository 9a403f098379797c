import type { Difference } from '../kinds/difference.ts'
import { backoffMs } from '../lib/retry.ts'
import type { Action } from './action.ts'
import type { DecideInput } from './input.ts'
import type { Correction, LedgerRecord } from './record.ts'

/*
 * Another writer might keep changing a field. After two corrections within an hour, the third waits an hour.
 * Each further wait is twice as long, up to a day. An edit or a person's request resets the count.
 */

const HOUR_MS = 60 * 60_000
export const CORRECTION_BACKOFF = { firstMs: HOUR_MS, maxMs: 24 * HOUR_MS }

const FREE_CORRECTIONS = 2

const MAX_STARTS = 7
const START = { firstMs: 60_000 }

type Corrected = Pick<DecideInput, 'recorded' | 'steadyNow' | 'isAsked'>

interface Contest {
  readonly fields: readonly string[]
  readonly times: number
  /** ms from the last correction to the next. Undefined: none follows. */
  readonly waitMs?: number
}

export function contestOf(input: Corrected, fields: readonly string[]): Contest | undefined {
  const { recorded, steadyNow, isAsked } = input
  const contested = fields.flatMap((field) => {
    const last = recorded.corrections?.[field]
    return last !== undefined && isContested(last, steadyNow) ? [{ field, ...last }] : []
  })
  if (contested.length === 0 || isAsked === true) return undefined
  const times = Math.max(...contested.map(({ count }) => count))
  return { fields: contested.map(({ field }) => field), times, waitMs: waitAfter(times) }
}

export function reportContest(differences: readonly Difference[], { fields, ...contest }: Contest): Action {
  return { type: 'report', reason: 'Drifted', differences, facts: { fields, from: 'manifest', contest } }
}

function isContested({ count, at, before = at }: Correction, now: number): boolean {
  const isFree = count < FREE_CORRECTIONS || (count === FREE_CORRECTIONS && at - before >= HOUR_MS)
  return !isFree && now - at < waitAfter(count)
}

function waitAfter(count: number): number {
  return backoffMs(Math.max(1, count - FREE_CORRECTIONS + 1), CORRECTION_BACKOFF)
}

export function failedStart({ recorded, steadyNow, isAsked }: Corrected): 'now' | 'later' | 'given up' {
  const last = recorded.corrections?.['start']
  if (last === undefined || isAsked === true) return 'now'
  if (last.count >= MAX_STARTS) return 'given up'
  return steadyNow - last.at >= backoffMs(last.count, START) ? 'now' : 'later'
}

/** @param inRowMs ms without a correction until the count restarts. Default: an hour, later twice the last wait */
export function withCorrections(
  { recorded, steadyNow, isAsked }: Corrected,
  fields: readonly string[],
  inRowMs?: number,
): LedgerRecord['corrections'] {
  const entries = fields.map((field) => {
    const last = recorded.corrections?.[field]
    const isFirst = last === undefined || isAsked === true || !isInRow(last, steadyNow, inRowMs)
    return [
      field,
      isFirst ? { count: 1, at: steadyNow } : { count: last.count + 1, at: steadyNow, before: last.at },
    ] as const
  })
  const kept = Object.entries(recorded.corrections ?? {}).filter(
    ([, { count, at }]) => steadyNow - at < 2 * waitAfter(count),
  )
  return { ...Object.fromEntries(kept), ...Object.fromEntries(entries) }
}

function isInRow({ count, at }: Correction, now: number, inRowMs?: number): boolean {
  return now - at < (inRowMs ?? (count < FREE_CORRECTIONS ? HOUR_MS : 2 * waitAfter(count)))
}

export function withoutCorrections(
  { corrections = {} }: LedgerRecord,
  fields: readonly string[],
): LedgerRecord['corrections'] {
  const left = Object.entries(corrections).filter(([field]) => !fields.includes(field))
  return left.length === 0 ? undefined : Object.fromEntries(left)
}
