import type { Changes, Compared } from '../kinds/changes.ts'
import { isUnset } from '../kinds/field-table.ts'
import { valueAt, type JsonObject } from '../lib/json.ts'
import type { Action } from './action.ts'
import { attemptDigest } from './gates.ts'
import type { CreateOnceInput } from './input.ts'
import { AGAIN_MS, MAX_WAIT_MS } from './corrections.ts'
import type { LedgerRecord } from './record.ts'
import type { Change } from './recorded-change.ts'
import { isStoppedForChange } from './rest.ts'

/* What of a change is waited for: that it shows, and that it may be sent again. */

/** So long may it take until a value that is slow to show is there: ms. */
const SLOW_MS = 10 * 60_000

/** A new size is shown as none for a while: that it does not differ says nothing then. */
export function notShownYet(
  { recorded, desired, steadyNow }: CreateOnceInput,
  drifted: readonly string[],
  about: { readonly changes: Changes; readonly compared: Compared },
): Action | undefined {
  const { change } = recorded
  if (change?.isSent !== true || desired.fingerprint === undefined || drifted.length > 0) return undefined
  if (change.digest !== attemptDigest(desired.fingerprint) || steadyNow - change.at >= SLOW_MS)
    return undefined
  const fields = hiddenOf(change.fields, about)
  if (fields.length === 0) return undefined
  return { type: 'observe', reason: 'Changing', facts: { why: 'edited', fields, by: [], is: 'not seen yet' } }
}

/** Of fields that are slow to show, those that are asked for and not shown at all. */
export function hiddenOf(
  fields: readonly string[],
  { changes, compared }: { readonly changes: Changes; readonly compared: Compared },
): readonly string[] {
  const { desired, observed } = compared
  return fields.filter((field) => changes.isSlow(field) && isSet(desired, field) && !isSet(observed, field))
}

/** Of fields that were taken out of the manifest, and sent so, those that are there all the same: the service keeps them. */
export function keptFields(
  fields: readonly string[],
  { changes, compared }: { readonly changes: Changes; readonly compared: Compared },
): readonly string[] {
  if (changes.replacesWhole !== true) return []
  const { desired, observed } = compared
  return fields.filter((field) => !isSet(desired, field) && isSet(observed, field))
}

/** Of fields that were edited, those that the service is known to keep: they are not sent again for the same manifest, unless somebody asks. */
export function keptBefore(
  { recorded, desired, isAsked }: CreateOnceInput,
  edited: readonly string[],
  about: { readonly changes: Changes; readonly compared: Compared },
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

/** What was sent and is not there: it takes a while, or did not take effect. */
export function stalledFields(
  { recorded, desired, steadyNow, isAsked, observed }: CreateOnceInput,
  drifted: readonly string[],
  changes: Changes,
): Action | undefined {
  const { change } = recorded
  const differences = observed.status === 'found' ? observed.differences : []
  if (change?.isSent !== true || desired.fingerprint === undefined || drifted.length === 0) return undefined
  const isSame = change.digest === attemptDigest(desired.fingerprint)
  const own = drifted.filter((field) => change.fields.includes(field))
  const elapsed = steadyNow - change.at
  if (!isSame || own.length < drifted.length || elapsed >= AGAIN_MS || isAsked === true) return undefined
  if (elapsed < SLOW_MS && own.every((field) => changes.isSlow(field)))
    return {
      type: 'observe',
      reason: 'Changing',
      facts: { why: 'edited', fields: own, by: [], is: 'not seen yet' },
    }
  return {
    type: 'report',
    reason: 'Stalled',
    differences,
    facts: { fields: differences.map(({ field }) => field), now: false, again: 'in an hour' },
  }
}

/** The fields of a change that was begun, and of which it is not known that it was sent. */
export function interruptedFields({ change }: LedgerRecord): readonly string[] {
  return change === undefined || change.isSent === true ? [] : change.fields
}

/** It was stopped for this, and started again without it: that is not done again soon. */
export function stoppedInVain(input: CreateOnceInput): Action | undefined {
  const { change } = input.recorded
  if (change === undefined || change.waitsForRest === true || isStoppedForChange(input.recorded))
    return undefined
  const said = 'It was stopped for this change, and could not be changed then.'
  return waitsAfter(input, { ...change, refused: change.refused ?? said })
}

/** The service said that it takes it only from what rests, and to stop it was put off. */
export function waitsForRest({ recorded: { change }, desired }: CreateOnceInput): boolean {
  const { fingerprint } = desired
  return (
    change?.waitsForRest === true && fingerprint !== undefined && change.digest === attemptDigest(fingerprint)
  )
}

/** It was refused while it was stopped: that is not tried again soon. */
export function refusedBefore(input: CreateOnceInput): Action | undefined {
  const { change } = input.recorded
  return change?.refused === undefined ? undefined : waitsAfter(input, change)
}

function waitsAfter(
  { desired, steadyNow, isAsked, now }: CreateOnceInput,
  { digest, at, refusals = 1, refused = '' }: Change,
): Action | undefined {
  if (desired.fingerprint === undefined || isAsked === true) return undefined
  const left = at + Math.min(AGAIN_MS * 2 ** (refusals - 1), MAX_WAIT_MS) - steadyNow
  if (digest !== attemptDigest(desired.fingerprint) || left <= 0) return undefined
  const until = now + left
  return { type: 'hold', reason: 'BackingOff', until, facts: { said: refused, until } }
}
