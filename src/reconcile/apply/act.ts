import { fieldOfPath } from '../../kinds/changes.ts'
import { remoteNameOf } from '../../kinds/lookup.ts'
import type { Action } from '../../plan/action.ts'
import { hiddenOf, keptFields } from '../../plan/change-waits.ts'
import { differencesIn, type CreateOnceInput } from '../../plan/input.ts'
import { withSizeSeen } from '../../plan/new-size.ts'
import { DONE } from '../../plan/outcome.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { CORRECTION_BACKOFF, withoutCorrections } from '../../plan/corrections.ts'
import {
  isAtRest,
  isFailed,
  isRunning,
  isSeenToRun,
  isStoppedByUs,
  isStopping,
  UNHEEDED_MS,
} from '../../plan/run-state.ts'
import { attemptDigest } from '../../plan/gates.ts'
import type { Acted, ReconcileContext, ReconcileRequest } from '../context.ts'
import { adoptByManifest } from './adoption.ts'
import type { Assessment } from '../gather/assess.ts'
import { change } from './change-pipe.ts'
import { createOnce } from './create-once.ts'
import type { CreatePermit } from '../../contract/platform.ts'
import type { OutcomeOutbox } from './outcome-outbox.ts'
import { remove } from './removal.ts'
import { upsert, withWhatIsThere } from './upsert.ts'

export function act(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  assessment: Assessment,
  action: Action,
  { request, permit }: { readonly request: ReconcileRequest; readonly permit: CreatePermit | undefined },
): Acted | Promise<Acted> {
  const record = assessment.input.recorded
  switch (action.type) {
    case 'create':
      if (permit === undefined) throw new Error(`a create of ${record.key} needs a permit`)
      return createOnce(context, outbox, assessment, { action, request, permit })
    case 'adopt':
      return adoptByManifest(context, assessment, action, request)
    case 'upsert':
      return upsert(context, assessment, action, request)
    case 'update':
      return change(context, assessment, action, request)
    case 'delete':
      return remove(context, assessment, action, request)
    case 'observe':
      return {
        outcome: DONE,
        record:
          assessment.input.lifecycle === 'upsert' && isThere(action)
            ? withWhatIsThere(context, assessment)
            : seen(settled(accepted(record, assessment, action), assessment, action), assessment),
        history: [],
      }
    case 'report':
    case 'hold':
    case 'refuse':
      return {
        outcome: DONE,
        record: seen(settled(record, assessment, action), assessment),
        history: [],
      }
  }
}

function isThere(action: Action): boolean {
  return action.reason === 'Adopted' || action.reason === 'Applied' || isAccepted(action)
}

function isAccepted({ reason, facts }: Action): boolean {
  return reason === 'InSync' && facts.accepted !== undefined
}

function accepted(record: LedgerRecord, { input, entry }: Assessment, action: Action): LedgerRecord {
  const { fingerprint } = input.desired
  const manifest = entry?.manifest
  if (!isAccepted(action) || fingerprint === undefined || manifest === undefined) return record
  const { digest, fields } = fingerprint
  // Keep the hashes of the sent secrets, because replies have no secrets.
  const secrets = record.applied?.secrets ?? {}
  return { ...record, applied: { digest, fields, secrets }, platformName: remoteNameOf(manifest) }
}

function seen(record: LedgerRecord, { input }: Assessment): LedgerRecord {
  if (input.lifecycle !== 'create-once') return record
  const noted = withSizeSeen(record, input)
  return isUndone(record, input) ? noted : withoutEffective(noted, input)
}

/** Whether a change was sent minutes ago, and is undone. Its effect can come later. */
function isUndone({ change: sent }: LedgerRecord, { desired, steadyNow }: Assessment['input']): boolean {
  if (sent === undefined || desired.fingerprint === undefined) return false
  return sent.digest !== attemptDigest(desired.fingerprint) && steadyNow - sent.at < UNHEEDED_MS
}

/** Forgets the sent fields that took effect: a later difference has another cause. */
function withoutEffective(record: LedgerRecord, { compared, kind, observed }: CreateOnceInput): LedgerRecord {
  const { change: sent } = record
  const { changes } = kind
  if (sent?.isSent !== true || compared === undefined || changes === undefined) return record
  const about = { changes, compared }
  const drifted = differencesIn(observed).map(({ field }) => fieldOfPath(field))
  const open = [...drifted, ...hiddenOf(sent.fields, about), ...keptFields(sent.fields, about)]
  const fields = sent.fields.filter((field) => open.includes(field))
  return { ...record, change: fields.length === 0 ? undefined : { ...sent, fields } }
}

/** Clears a recorded change or command that took effect: later differences have another cause. */
function settled(record: LedgerRecord, { input }: Assessment, action: Action): LedgerRecord {
  const { command } = record
  if (command === undefined && record.change === undefined) return calmed(record, input)
  // A stop can take effect minutes later. The pipe must be started then.
  const isRecent = command !== undefined && input.steadyNow - command.at < UNHEEDED_MS
  const mightStop = isStoppedByUs(record) && command?.command === 'stop' && isRecent
  if (action.reason === 'InSync') {
    const isStillStopping = mightStop || (input.lifecycle === 'create-once' && isStopping(input))
    return {
      ...record,
      change: isUndone(record, input) ? record.change : undefined,
      command: isStillStopping ? command : undefined,
    }
  }
  if (command === undefined || input.lifecycle !== 'create-once') return record
  const isUnheeded = action.reason === 'Stalled' && action.facts.command !== undefined
  const isOver =
    command.command === 'start'
      ? isSeenToRun(input)
      : isAtRest(input)
        ? command.isForChange !== true
        : isSeenToRun(input) && !mightStop && action.type === 'report' && !isUnheeded
  return isOver ? { ...record, command: undefined } : record
}

/** Resets the count of starts if the pipe runs a day after the last start. */
function calmed(record: LedgerRecord, input: Assessment['input']): LedgerRecord {
  const start = record.corrections?.['start']
  if (start === undefined || input.lifecycle !== 'create-once') return record
  const isCalm =
    isRunning(input) && !isFailed(input) && input.steadyNow - start.at >= CORRECTION_BACKOFF.maxMs
  return isCalm ? { ...record, corrections: withoutCorrections(record, ['start']) } : record
}
