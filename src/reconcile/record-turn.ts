import { sameJson } from '../lib/json.ts'
import { changedConditions } from '../plan/conditions.ts'
import type { Conditions } from '../plan/condition.ts'
import type { Backoff, LedgerRecord } from '../plan/record.ts'
import type { Acted } from './acted.ts'
import type { Assessment } from './assess.ts'
import type { Deps } from './deps.ts'
import type { HistoryEntry } from './history.ts'
import { requestIdOf } from './outcome.ts'
import { LedgerError } from './ports.ts'

/** What one turn came to, before it is written. */
export interface Recording {
  readonly assessment: Assessment
  readonly recorded: LedgerRecord
  readonly acted: Acted
  readonly conditions: Conditions
  readonly backoff: Backoff | undefined
}

/** Writes what changed, and only if something did: a pass over an unchanged world writes nothing, and waits for nothing. */
export function recordTurn(deps: Deps, recording: Recording): LedgerRecord | Promise<LedgerRecord> {
  const { assessment, recorded, acted, conditions, backoff } = recording
  const { entry } = assessment
  const next: LedgerRecord = {
    ...acted.record,
    file: entry?.position.file ?? recorded.file,
    line: entry?.position.line ?? recorded.line,
    conditions,
    backoff,
  }
  if (acted.outcome.result === 'stopped' || sameJson(next, recorded)) return acted.record
  return write(deps, recording, next)
}

async function write(
  deps: Deps,
  { assessment, recorded, acted, conditions }: Recording,
  next: LedgerRecord,
): Promise<LedgerRecord> {
  const { entry, input } = assessment
  const history = changedConditions(recorded.conditions, conditions).map((type): HistoryEntry => {
    const { status, reason, message } = conditions[type]
    const requestId = requestIdOf(acted.outcome) ?? assessment.requestId
    return {
      type: 'condition',
      condition: type,
      status,
      reason,
      message,
      key: input.desired.key,
      at: deps.clock.now(),
      revision: entry?.revision ?? deps.world.catalog?.revision.id ?? '',
      requestId,
    }
  })
  try {
    const written = await deps.ledger.swap(next, [...acted.history, ...history])
    deps.world.note(written)
    return written
  } catch (error) {
    // What was created is on disk already; conditions are told again at the next turn.
    if (!(error instanceof LedgerError)) throw error
    deps.world.note(acted.record)
    return acted.record
  }
}
