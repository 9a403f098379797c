import { fieldOfPath } from '../kinds/changes.ts'
import { isSet } from './change-waits.ts'
import type { ChangeContext, CreateOnceInput } from './input.ts'
import type { LedgerRecord } from './record.ts'

/*
 * A create can ignore spec.scaling. So for 15 minutes, it is sent again until a read shows its values. After that,
 * other values are drift.
 */

const NEW_MS = 15 * 60_000

export function isOfNew(input: CreateOnceInput, field: string, about: ChangeContext): boolean {
  return isUnseen(input) && isSize(field, about)
}

export function withSizeSeen(record: LedgerRecord, input: CreateOnceInput): LedgerRecord {
  const { compared, desired, kind, observed } = input
  const { changes } = kind
  if (compared === undefined || changes === undefined || observed.status !== 'found' || !isUnseen(input))
    return record
  const about = { changes, compared }
  const differing = new Set(observed.differences.map(({ field }) => fieldOfPath(field)))
  const size = Object.keys(desired.fingerprint?.fields ?? {}).filter((field) => isSize(field, about))
  // A reply without the size has no difference, but does not confirm the size.
  const isSeen =
    size.length > 0 && size.every((field) => !differing.has(field) && isSet(compared.observed, field))
  return isSeen ? withoutNewSize(record) : record
}

export function withoutNewSize(record: LedgerRecord): LedgerRecord {
  const { remote } = record
  return remote === undefined ? record : { ...record, remote: { ...remote, isSizeSeen: true } }
}

function isUnseen({ recorded: { remote, change }, steadyNow }: CreateOnceInput): boolean {
  const isNew = remote?.origin === 'created' && Math.abs(steadyNow - remote.at) < NEW_MS
  return isNew && remote.isSizeSeen !== true && change === undefined
}

export function isSize(field: string, { changes, compared }: ChangeContext): boolean {
  return changes.wayOf(field, new Set([field]), compared) === 'scale'
}
