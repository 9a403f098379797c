import { fieldOfPath, type Changes, type Compared } from '../kinds/changes.ts'
import { isSet } from './change-waits.ts'
import type { CreateOnceInput } from './input.ts'
import type { LedgerRecord } from './record.ts'

/*
 * The size of a new pipe: the service was seen to leave it out of what a create asks for, so that it is sent after it. From the first reading that
 * shows it as asked for, another one is somebody's doing.
 */

/** A size that a create did not take is sent for so long after it: ms. */
const NEW_MS = 15 * 60_000

interface About {
  readonly changes: Changes
  readonly compared: Compared
}

/** Whether a field that differs is the size of a new pipe, which nobody has seen as asked for yet. */
export function isOfNew(input: CreateOnceInput, field: string, about: About): boolean {
  return isUnseen(input) && isSize(field, about)
}

/** Remembers that the size of a new pipe was seen as it was asked for. */
export function withSizeSeen(record: LedgerRecord, input: CreateOnceInput): LedgerRecord {
  const { compared, desired, kind, observed } = input
  const { changes } = kind
  if (compared === undefined || changes === undefined || observed.status !== 'found' || !isUnseen(input))
    return record
  const about = { changes, compared }
  const differing = new Set(observed.differences.map(({ field }) => fieldOfPath(field)))
  const size = Object.keys(desired.fingerprint?.fields ?? {}).filter((field) => isSize(field, about))
  // One that is not shown does not differ, and is not seen either.
  const isSeen =
    size.length > 0 && size.every((field) => !differing.has(field) && isSet(compared.observed, field))
  return isSeen ? withoutNewSize(record) : record
}

/** It was seen, or was sent since: then the record of that says what becomes of it. */
export function withoutNewSize(record: LedgerRecord): LedgerRecord {
  const { remote } = record
  return remote === undefined ? record : { ...record, remote: { ...remote, isSizeSeen: true } }
}

function isUnseen({ recorded: { remote, change }, steadyNow }: CreateOnceInput): boolean {
  const isNew = remote?.origin === 'created' && steadyNow - remote.at < NEW_MS
  return isNew && remote.isSizeSeen !== true && change === undefined
}

function isSize(field: string, { changes, compared }: About): boolean {
  return changes.wayOf(field, new Set([field]), compared) === 'scale'
}
