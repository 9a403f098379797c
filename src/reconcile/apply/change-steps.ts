import { type ActionEntry, historyEntry, saveRecord } from '../state/record-io.ts'
import type { Looks, Reply, ServiceAccess } from '../../contract/platform.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { sameJson } from '../../lib/json.ts'
import { withSecrets } from '../../kinds/secret-ref.ts'
import type { Action, ChangeStep } from '../../plan/action.ts'
import { interruptedFields } from '../../plan/change-waits.ts'
import { CORRECTION_BACKOFF, withCorrections, withoutCorrections } from '../../plan/corrections.ts'
import { isFailed } from '../../plan/run-state.ts'
import { attemptDigest } from '../../plan/gates.ts'
import type { CreateOnceInput } from '../../plan/input.ts'
import type { Because } from '../../plan/reason.ts'
import type { Change, Command, LedgerRecord } from '../../plan/record.ts'
import { DecisionOutdated, type ReconcileContext, type ReconcileRequest } from '../context.ts'
import type { Assessment } from '../gather/assess.ts'
import { revealed } from '../gather/body-secrets.ts'
import { decideAgain } from './decision.ts'

export type Update = Action & { readonly type: 'update' }

export interface Changing {
  readonly context: ReconcileContext
  readonly assessment: Assessment
  readonly input: CreateOnceInput
  readonly action: Update & Because<'Changing'>
  readonly options: ReconcileRequest
  readonly access: ServiceAccess
  readonly id: string
  readonly fields: readonly string[]
}

/** Records the stop before the request: after a crash, the next process starts the pipe. */
export function stopNoted(changing: Changing, recorded: LedgerRecord): Promise<LedgerRecord> {
  const at = changing.context.store.steadyNow()
  const command = sentAgain(recorded.command, { command: 'stop', at, isForChange: true })
  return saveRecord(changing.context, { ...recorded, command, change: begun(changing) })
}

/** A correction that continues after a crash counts only once. */
export function countedCorrections({ action, input, fields }: Changing): LedgerRecord['corrections'] {
  const { recorded } = input
  const interrupted = interruptedFields(recorded)
  const corrected = action.corrects.filter((field) => !interrupted.includes(field))
  if (corrected.length === 0 && fields.length === 0) return recorded.corrections
  const edited = fields.filter((field) => !action.corrects.includes(field))
  const undone = { start: ['stop'], stop: ['start'] }
  const others =
    edited.length > 0
      ? [...edited, 'start']
      : corrected.flatMap((field) => undone[field as keyof typeof undone] ?? [])
  const corrections = withoutCorrections(recorded, others)
  if (corrected.length === 0) return corrections
  return withCorrections(
    { ...input, recorded: { ...recorded, corrections } },
    corrected,
    isFailed(input) ? CORRECTION_BACKOFF.maxMs : undefined,
  )
}

/** The change to journal. Includes the fields of the recorded change, because that change might be incomplete. */
export function begun({ context, input, fields: now }: Changing): Change {
  const { fingerprint } = input.desired
  const fields = [...new Set([...(input.recorded.change?.fields ?? []), ...now])].toSorted()
  const digest = fingerprint === undefined ? '' : attemptDigest(fingerprint)
  const before = input.recorded.change
  const refusals = before?.digest === digest ? before.refusals : undefined
  return { digest, at: context.store.steadyNow(), fields, ...(refusals !== undefined && { refusals }) }
}

export function sentAgain(before: LedgerRecord['command'], now: Command): Command {
  return before?.command === now.command ? { ...now, since: before.since ?? before.at } : now
}

export async function stepBody(
  changing: Changing,
  record: LedgerRecord,
  step: ChangeStep,
  looks: Looks,
): Promise<string> {
  const { context, assessment: first, input, action, access, fields, options: request } = changing
  const decided = { type: action.type, first, access, request } as const
  const attempt = { journaled: record, isRead: input.kind.changes?.replacesWhole === true, looks }
  const { assessment, action: now } = await decideAgain(context, decided, attempt)
  const isSame =
    now.reason === 'Changing' &&
    sameJson(now.facts.fields, fields) &&
    now.stopFor === action.stopFor &&
    sameJson(assessment.input.desired.fingerprint?.secrets, first.input.desired.fingerprint?.secrets)
  const body = now.steps.find(({ way }) => way === step.way)?.body
  if (!isSame || body === undefined) throw new DecisionOutdated(record.key)
  return JSON.stringify(withSecrets(body, (path) => revealed(context, assessment.secrets, path)))
}

export interface Look {
  readonly reply: Reply<RemoteResource>
  /** Start of the read; monotonic ms. */
  readonly readAt: number
}

/** The reply to a change might not show its effect, so read the pipe. Undefined: the read failed. */
export async function look({ context, input, access, id, options }: Changing): Promise<Look | undefined> {
  const readAt = context.clock.monotonic()
  try {
    return { reply: await context.platform.read({ kind: input.kind, service: access, id }, options), readAt }
  } catch (error) {
    if (error instanceof RemoteError || options.signal.aborted) return undefined
    throw error
  }
}

export function entryOf(
  { context, input }: Changing,
  because: Because,
  requestId: string | undefined,
): ActionEntry {
  const { key } = input.desired
  return historyEntry(context, key, { action: 'update', because, requestId })
}
