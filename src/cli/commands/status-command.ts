import type { Settings } from '../../config/settings.ts'
import { systemClock } from '../../daemon/system-clock.ts'
import type { Key } from '../../kinds/key.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Conditions } from '../../plan/condition.ts'
import { isWell } from '../../plan/severity.ts'
import { statusOf } from '../../plan/conditions.ts'
import { messageOf } from '../../plan/reason.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { openLedgerAs } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson, nobody } from '../io.ts'
import { paintFor } from '../render/paint.ts'
import { statusDetails, statusTable } from '../render/status-text.ts'

export const STATUS_OUTPUTS = ['text', 'json'] as const

/** `pipewright status [key]`: what the ledger says, also while a daemon runs on it. */
export async function status(
  io: Io,
  settings: Settings,
  options: { readonly key: string | undefined; readonly output: (typeof STATUS_OUTPUTS)[number] },
): Promise<ExitCode> {
  await using ledger = await openLedgerAs('reader', settings, nobody)
  const records = await ledger.list()
  const chosen = options.key === undefined ? records : [recordNamed(records, options.key)]
  const resources = chosen.map(toShown)
  const paint = paintFor(io.stdout, io.env)
  const [only] = resources
  if (options.output === 'json') printJson(io, options.key === undefined ? resources : only)
  else if (options.key !== undefined && only !== undefined) {
    print(io.stdout, statusDetails(only, systemClock.now(), paint))
  } else print(io.stdout, statusTable(resources, paint))
  return resources.every(isWell) ? EXIT.fine : EXIT.failed
}

/** @throws {CommandError} with the nearest name when there is no such record */
export function recordNamed(records: readonly LedgerRecord[], key: string): LedgerRecord {
  const record = records.find((candidate) => candidate.key === key)
  if (record !== undefined) return record
  const near = nearest(
    key,
    records.map((candidate): Key => candidate.key),
  )
  const hint = near === undefined ? 'See "pipewright status" for all there are.' : `Did you mean ${near}?`
  throw new CommandError(`the ledger has no record of ${key}. ${hint}`, EXIT.failed)
}

function toShown(record: LedgerRecord) {
  const { key, file, line, remote, intent, upsert } = record
  const unseen = {
    status: 'Unknown',
    reason: 'Unobserved',
    message: messageOf({ reason: 'Unobserved', facts: { why: 'waiting' } }),
    since: 0,
  } as const
  const conditions: Conditions = record.conditions ?? { Valid: unseen, Synced: unseen, Ready: unseen }
  const { Valid, Synced, Ready } = conditions
  const telling =
    Valid.status === 'False' ? Valid : Synced.status === 'True' && Ready.status !== 'True' ? Ready : Synced
  return {
    key,
    status: statusOf(conditions),
    reason: telling.reason,
    message: telling.message,
    file,
    line,
    pipeId: remote?.id,
    conditions,
    intent,
    lastUpsert: upsert,
  }
}
