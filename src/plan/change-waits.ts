import type { Changes } from '../kinds/changes.ts'
import { isUnset } from '../kinds/field-table.ts'
import { valueAt, type JsonObject } from '../lib/json.ts'
import { backoffMs } from '../lib/retry.ts'
import type { Action } from './action.ts'
import { attemptDigest } from './gates.ts'
import { differencesIn, type ChangeContext, type CreateOnceInput } from './input.ts'
import { CORRECTION_BACKOFF } from './corrections.ts'
import type { Change, LedgerRecord } from './record.ts'
import { isStoppedForChange } from './run-state.ts'

const SLOW_MS = 10 * 60_000

/** Waits while a read lacks the sent fields, because services can show them minutes later. */
export function notShownYet(
  { recorded, desired, steadyNow }: CreateOnceInput,
  drifted: readonly string[],
  about: ChangeContext,
): Action | undefined {
  const { change } = recorded
  if (change?.isSent !== true || desired.fingerprint === undefined || drifted.length > 0) return undefined
  if (change.digest !== attemptDigest(desired.fingerprint) || steadyNow - change.at >= SLOW_MS)
    return undefined
  const fields = hiddenOf(change.fields, about)
  if (fields.length === 0) return undefined
  return notSeenYet(fields)
}

function notSeenYet(fields: readonly string[]): Action {
  return { type: 'observe', reason: 'Changing', facts: { why: 'edited', fields, by: [], is: 'not seen yet' } }
}

export function hiddenOf(fields: readonly string[], { changes, compared }: ChangeContext): readonly string[] {
  const { desired, observed } = compared
  return fields.filter((field) => changes.isSlow(field) && isSet(desired, field) && !isSet(observed, field))
}

export function keptFields(
  fields: readonly string[],
  { changes, compared }: ChangeContext,
): readonly string[] {
  if (changes.replacesWhole !== true) return []
  const { desired, observed } = compared
  return fields.filter((field) => !isSet(desired, field) && isSet(observed, field))
}

/** Fields that only the service still has. Their removal is sent again only on request. */
export function keptBefore(
  { recorded, desired, isAsked }: CreateOnceInput,
  edited: readonly string[],
  about: ChangeContext,
): readonly string[] {
  const { change } = recorded
  if (change?.isSent !== true || desired.fingerprint === undefined || isAsked === true) return []
  if (change.digest !== attemptDigest(desired.fingerprint)) return []
  return keptFields(
    edited.filter((field) => change.fields.includes(field)),
    about,
  )
}

export function isSet(body: JsonObject, field: string): boolean {
  return !isUnset(valueAt(body, field))
}

/** Whether the last change was sent less than an hour ago. Fields without effect are then not sent again. */
export function isJustSent(
  { recorded: { change }, desired, steadyNow, isAsked }: CreateOnceInput,
  sent: 'isSent' | 'isHalfSent' = 'isSent',
): boolean {
  if (change?.[sent] !== true || desired.fingerprint === undefined || isAsked === true) return false
  return (
    change.digest === attemptDigest(desired.fingerprint) && steadyNow - change.at < CORRECTION_BACKOFF.firstMs
  )
}

export function stalledFields(
  input: CreateOnceInput,
  drifted: readonly string[],
  changes: Changes,
): Action | undefined {
  const { fields = [] } = input.recorded.change ?? {}
  const own = drifted.filter((field) => fields.includes(field))
  if (own.length === 0 || own.length < drifted.length || !isJustSent(input)) return undefined
  return notSeen(input, own, changes)
}

/** An accepted request had no effect yet. */
export function notSeen(
  { observed, recorded, steadyNow }: CreateOnceInput,
  fields: readonly string[],
  changes: Changes,
): Action {
  if (steadyNow - (recorded.change?.at ?? 0) < SLOW_MS && fields.every((field) => changes.isSlow(field)))
    return notSeenYet(fields)
  const differences = differencesIn(observed)
  return {
    type: 'report',
    reason: 'Stalled',
    differences,
    facts: { fields: differences.map(({ field }) => field), again: 'in an hour' },
  }
}

export function interruptedFields({ change }: LedgerRecord): readonly string[] {
  return change === undefined || change.isSent === true ? [] : change.fields
}

/** Delays the next stop: the change had no effect although the pipe was stopped for it. */
export function stoppedInVain(input: CreateOnceInput): Action | undefined {
  const { change } = input.recorded
  if (change === undefined || change.waitsForRest === true || isStoppedForChange(input.recorded))
    return undefined
  return waitsAfter(input, change)
}

export function waitsForRest({ recorded: { change }, desired }: CreateOnceInput): boolean {
  const { fingerprint } = desired
  return (
    change?.waitsForRest === true && fingerprint !== undefined && change.digest === attemptDigest(fingerprint)
  )
}

export function refusedBefore(input: CreateOnceInput): Action | undefined {
  const { change } = input.recorded
  return change?.refused === undefined ? undefined : waitsAfter(input, change)
}

function waitsAfter(
  { desired, steadyNow, isAsked, now }: CreateOnceInput,
  { digest, at, refusals = 1, refused: after }: Change,
): Action | undefined {
  if (desired.fingerprint === undefined || isAsked === true) return undefined
  const left = at + backoffMs(refusals, CORRECTION_BACKOFF) - steadyNow
  if (digest !== attemptDigest(desired.fingerprint) || left <= 0) return undefined
  const until = now + left
  return { type: 'hold', reason: 'BackingOff', until, facts: { after: after ?? 'stopped', until } }
}
