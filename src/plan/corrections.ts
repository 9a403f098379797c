import type { DecideInput } from './input.ts'
import type { LedgerRecord } from './record.ts'
import type { Correction } from './recorded-change.ts'

/*
 * Corrections of drift. Another writer might keep changing the same field. The third correction of a field within an hour is contested: it waits
 * an hour after the second one, and each further wait is twice as long, up to a day. A person who asks, and an edit, start afresh.
 */

/** What was sent in vain, or was undone, is not sent again for so long: ms. */
export const AGAIN_MS = 60 * 60_000
/** No wait is longer: ms. */
export const MAX_WAIT_MS = 24 * AGAIN_MS

/** Corrections of one field in a row that go out without a wait. */
const FREE_CORRECTIONS = 2

/** Starts of a failed pipe in a row. */
const MAX_STARTS = 7
/** After the first start of a failed pipe, ms; then twice as long each time. */
const FIRST_START_WAIT_MS = 60_000

type Corrected = Pick<DecideInput, 'recorded' | 'steadyNow' | 'isAsked'>

/** What a contested field is reported with. */
export interface Contest {
  readonly fields: readonly string[]
  /** Corrections in a row. */
  readonly times: number
  /** From the last correction until the next; undefined: none follows. */
  readonly waitMs?: number
}

/** The fields that must wait before they are corrected again; undefined: none. */
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

function isContested({ count, at, before = at }: Correction, now: number): boolean {
  const isThirdInAnHour = count > FREE_CORRECTIONS || (count === FREE_CORRECTIONS && now - before < AGAIN_MS)
  return isThirdInAnHour && now - at < waitAfter(count)
}

function waitAfter(count: number): number {
  return Math.min(AGAIN_MS * 2 ** Math.max(0, count - FREE_CORRECTIONS), MAX_WAIT_MS)
}

/** Whether a failed pipe is started now, later, or not any more. */
export function failedStart({ recorded, steadyNow, isAsked }: Corrected): 'now' | 'later' | 'given up' {
  const last = recorded.corrections?.['start']
  if (last === undefined || isAsked === true) return 'now'
  if (last.count >= MAX_STARTS) return 'given up'
  return steadyNow - last.at >= FIRST_START_WAIT_MS * 2 ** (last.count - 1) ? 'now' : 'later'
}

/**
 * The corrections with one more of each of these fields.
 * @param inRowMs how soon the next one has to come to count in a row; default: less than twice its wait
 */
export function withCorrections(
  { recorded, steadyNow, isAsked }: Corrected,
  fields: readonly string[],
  inRowMs?: number,
): LedgerRecord['corrections'] {
  const entries = fields.map((field) => {
    const last = recorded.corrections?.[field]
    const isFirst = last === undefined || isAsked === true || !isInRow(last, steadyNow, inRowMs)
    return [field, isFirst ? { count: 1, at: steadyNow } : next(last, steadyNow)] as const
  })
  const kept = Object.entries(recorded.corrections ?? {}).filter(
    ([, { count, at }]) => steadyNow - at < 2 * waitAfter(count),
  )
  return { ...Object.fromEntries(kept), ...Object.fromEntries(entries) }
}

function isInRow({ count, at }: Correction, now: number, inRowMs?: number): boolean {
  return now - at < (inRowMs ?? (count < FREE_CORRECTIONS ? AGAIN_MS : 2 * waitAfter(count)))
}

function next({ count, at, before = at }: Correction, now: number): Correction {
  // More than an hour after the first of them, and sooner than a wait: the hour moves on.
  const isMoved = count === FREE_CORRECTIONS && now - before >= AGAIN_MS && now - at < AGAIN_MS
  return { count: isMoved ? count : count + 1, at: now, before: at }
}

/** The corrections without those of these fields; undefined: none is left. */
export function withoutCorrections(
  { corrections = {} }: LedgerRecord,
  fields: readonly string[],
): LedgerRecord['corrections'] {
  const left = Object.entries(corrections).filter(([field]) => !fields.includes(field))
  return left.length === 0 ? undefined : Object.fromEntries(left)
}
