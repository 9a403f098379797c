import { type Key, parseKey } from '../kinds/key.ts'
import { isCreateOnce } from '../kinds/lookup.ts'
import { leftSomething } from '../plan/gates.ts'
import { messageOf } from '../plan/reason.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Assessment } from './assess.ts'
import { isUnclaimed, sameButGone } from './kin.ts'
import type { Deps } from './deps.ts'
import type { HistoryEntry } from './history.ts'
import { LedgerConflict } from './ports.ts'
import type { Rescue } from './rescue.ts'

/**
 * The record that has to move to this key before anything is decided for it: the one that `policy.renamedFrom` names,
 * or the only one that is gone for good and had the same service and body (design §3, renaming).
 */
export function recordToMove(
  deps: Deps,
  rescue: Pick<Rescue, 'isBusy'>,
  assessment: Assessment,
): LedgerRecord | undefined {
  const record = recordFor(deps, assessment)
  // A create that is under way finds its record where it left it; until then the rename is suspected, and waits.
  return record === undefined || rescue.isBusy(record.key) ? undefined : record
}

function recordFor({ world }: Deps, { input, entry, service }: Assessment): LedgerRecord | undefined {
  const manifest = entry?.manifest
  const { recorded, desired } = input
  if (
    manifest === undefined ||
    !isCreateOnce(manifest) ||
    desired.state !== 'valid' ||
    leftSomething(recorded)
  )
    return undefined
  const named = manifest.policy?.renamedFrom
  if (named !== undefined) {
    const from = parseKey(named)
    const record = from === undefined ? undefined : world.record(from)
    const free = record !== undefined && leftSomething(record) && isUnclaimed(world.desiredState(record.key))
    return free ? record : undefined
  }
  if (manifest.policy?.adopt !== undefined) return undefined
  return sameButGone(world, { manifest, desired, service })
}

/** Moves a record to a new key, in one transaction. @returns the record under its new key */
export async function moveRecord(
  deps: Deps,
  from: LedgerRecord,
  to: LedgerRecord,
  revision: string,
): Promise<LedgerRecord> {
  const message = messageOf({ reason: 'Moved', facts: { from: from.key, to: to.key } })
  const moved = {
    ...from,
    key: to.key,
    version: to.version,
    file: to.file,
    line: to.line,
    conditions: undefined,
  }
  const told: HistoryEntry = {
    type: 'action',
    action: 'move',
    reason: 'Moved',
    result: 'done',
    intentId: undefined,
    key: to.key,
    at: deps.clock.now(),
    revision,
    requestId: undefined,
    message,
  }
  let record: LedgerRecord
  try {
    record = await deps.ledger.move(from, moved, [told])
  } catch (error) {
    if (error instanceof LedgerConflict) await readAnew(deps, from.key)
    throw error
  }
  deps.world.drop(from.key)
  deps.world.note(record)
  deps.emit({ type: 'Forgotten', key: from.key })
  return record
}

/** What we know of another key is old when somebody else wrote it: without this, the next round would lose as well. */
async function readAnew({ ledger, world }: Deps, key: Key): Promise<void> {
  const current = await ledger.get(key)
  if (current === undefined) world.drop(key)
  else world.note(current)
}
