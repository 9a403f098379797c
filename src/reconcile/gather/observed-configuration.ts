import { compareBody } from '../../kinds/compare-body.ts'
import { isReadable, type UpsertKind } from '../../kinds/definition.ts'
import { maskTexts, replyMask } from '../../kinds/mask.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Observed, UpsertInput } from '../../plan/input.ts'
import type { LedgerRecord } from '../../plan/record.ts'

export function observedConfiguration(
  kind: UpsertKind,
  {
    desired,
    recorded,
    observed,
    mask,
    left,
  }: Pick<UpsertInput, 'desired' | 'recorded' | 'observed' | 'mask'> & {
    readonly left: LedgerRecord | undefined
  },
  body: JsonObject | undefined,
): Pick<UpsertInput, 'replyDiffers' | 'takesAway' | 'gives' | 'isAsLeft' | 'isOvertaken'> {
  // A former service keeps its endpoint, so its reply says nothing about this service.
  const reply = desired.otherService ? undefined : recorded.upsert?.reply
  const there = isReadable(kind) ? thereNow(observed) : reply
  const storedForm = (value: JsonObject | undefined) => value && maskTexts(value, replyMask({ mask }, body))
  const isSameAs = (known: JsonObject | undefined) =>
    known !== undefined && isSameThere(kind, known, storedForm(thereNow(observed)))
  const isKnown = there !== undefined && body !== undefined
  return {
    replyDiffers: reply !== undefined && body !== undefined ? compareBody(kind.fields, body, reply) : [],
    takesAway: isKnown ? kind.takenAway(there, body) : [],
    gives: isKnown ? kind.takenAway(body, there) : [],
    isAsLeft: isReadable(kind) && isSameAs(reply),
    // A late request sets what the record shows. After an unknown outcome, that is not known.
    isOvertaken:
      left !== undefined && (!isReadable(kind) || left.applied === undefined || isSameAs(left.upsert?.reply)),
  }
}

/** The platform's configuration. Undefined: not read. An empty object: there is none. */
export function thereNow(observed: Observed): JsonObject | undefined {
  if (observed.status === 'found') return observed.there
  return observed.status === 'missing' ? {} : undefined
}

function isSameThere(kind: UpsertKind, left: JsonObject, there: JsonObject | undefined): boolean {
  return (
    there !== undefined &&
    there['id'] === left['id'] &&
    compareBody(kind.fields, left, there).length === 0 &&
    compareBody(kind.fields, there, left).length === 0
  )
}
