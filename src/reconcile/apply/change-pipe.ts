import { saveRecord } from '../state/record-io.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import { fieldOfPath } from '../../kinds/changes.ts'
import { remoteNameOf } from '../../kinds/lookup.ts'
import { secretRefsIn } from '../../kinds/secret-ref.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ChangeStep } from '../../plan/action.ts'
import { hiddenOf, keptFields } from '../../plan/change-waits.ts'
import { withoutNewSize } from '../../plan/new-size.ts'
import { type Done, DONE, type Outcome } from '../../plan/outcome.ts'
import type { Because, FactsOf } from '../../plan/reason.ts'
import { isAtRest, isRunning, isStoppedForChange, unheeded } from '../../plan/run-state.ts'
import type { Fingerprint, LedgerRecord } from '../../plan/record.ts'
import type { Acted, ReconcileContext, ReconcileRequest } from '../context.ts'
import type { Assessment } from '../gather/assess.ts'
import { recordedAccess } from '../gather/service-access.ts'
import { noteReply } from '../state/observations.ts'
import {
  begun,
  stepBody,
  countedCorrections,
  entryOf,
  look,
  sentAgain,
  stopNoted,
  type Changing,
  type Look,
  type Update,
} from './change-steps.ts'
import { settleFailedChange } from './change-refused.ts'

const NO_SERVICE: Outcome = {
  result: 'failed',
  reason: 'DependencyNotReady',
  facts: { is: 'gone' },
}

/** Journals a stop before it is sent. After a crash, the remaining requests are decided again. */
export async function change(
  context: ReconcileContext,
  assessment: Assessment,
  action: Update,
  request: ReconcileRequest,
): Promise<Acted> {
  const changing = changingOf(context, assessment, action, request)
  if (changing === undefined) return { outcome: NO_SERVICE, record: assessment.input.recorded, history: [] }
  const { access, id, options } = changing
  const { kind, recorded } = changing.input
  let record = await begunRecord(changing, recorded)
  let requestId: string | undefined
  for (const [index, step] of action.steps.entries()) {
    let attempts = 0
    try {
      const sending = context.platform.change(
        { kind, way: step.way, service: access, id, isRepeatable: isRepeatable(changing, step) },
        async (looks) => {
          const body = await stepBody(changing, record, step, looks)
          attempts += 1
          return body
        },
        options,
      )
      const reply = await sending.finally(() => context.store.lastWrites.noteEnd(recorded))
      if (reply === undefined) return pretended(changing, record)
      requestId = reply.requestId
    } catch (error) {
      const isNone = error instanceof RemoteError && error.facts.effect === 'none'
      if (index === 0 && (attempts === 0 || isNone)) record = await unrecorded(changing, record)
      if (!(error instanceof RemoteError)) throw error
      return settleFailedChange(changing, record, step, error)
    }
  }
  record = { ...record, ...commandSent(changing, record) }
  const vain = unheeded({ ...changing.input, recorded: record })
  if (!action.isWhole)
    return {
      outcome: vain === undefined ? { ...DONE, requestId } : { ...DONE, ...vain, requestId },
      record,
      history: [entryOf(changing, action, requestId)],
    }
  const seen = await look(changing)
  const kept = keptAfter(changing, seen)
  const outcome = seenOutcome(changing, seen, { requestId, kept })
  return {
    outcome,
    record: { ...sentRecord(changing, record, { outcome, kept }), ...runsAgain(changing, record, seen) },
    history: [entryOf(changing, outcome.reason === undefined ? action : outcome, requestId)],
  }
}

function changingOf(
  context: ReconcileContext,
  assessment: Assessment,
  action: Update,
  request: ReconcileRequest,
): Changing | undefined {
  const { input, service } = assessment
  const { remote } = input.recorded
  const access = recordedAccess(context.store, input.recorded, service)
  if (input.lifecycle !== 'create-once' || remote === undefined || action.reason !== 'Changing')
    throw new Error(`a change of ${input.desired.key} was decided without a pipe`)
  if (access === undefined) return undefined
  return {
    context,
    assessment,
    input,
    action,
    options: request,
    access,
    id: remote.id,
    fields: action.facts.fields,
  }
}

async function begunRecord(changing: Changing, before: LedgerRecord): Promise<LedgerRecord> {
  const { action, fields } = changing
  const recorded = { ...heeded(changing, before), corrections: countedCorrections(changing) }
  if (action.stopFor === 'change') return stopNoted(changing, recorded)
  if (fields.length === 0 || action.stopFor !== undefined) return recorded
  return saveRecord(changing.context, { ...recorded, change: begun(changing) })
}

/** Removes the journaled change: it had no effect. Otherwise, later drift or a person's stop would count as ours. */
async function unrecorded({ context, input }: Changing, record: LedgerRecord): Promise<LedgerRecord> {
  const { version, change: before, command, corrections } = input.recorded
  if (record.version === version) return record
  return saveRecord(context, { ...record, change: before, command, corrections })
}

/** Clears a recorded `stop` command once the pipe is stopped, except if the stop is for a change. */
function heeded({ input }: Changing, record: LedgerRecord): LedgerRecord {
  const { command } = record
  const isOver = command?.command === 'stop' && command.isForChange !== true && isAtRest(input)
  return isOver ? { ...record, command: undefined } : record
}

function commandSent(
  { context, action }: Changing,
  { command, change: open }: LedgerRecord,
): Partial<LedgerRecord> {
  const sent = action.steps.find(({ way }) => way === 'state')?.body['command']
  const at = context.store.steadyNow()
  if (sent !== 'start' && sent !== 'stop') {
    if (action.isWhole || open === undefined) return {}
    // After the first half, the service starts the pipe. The other half must wait until it is stopped again.
    const half = { ...open, isHalfSent: true, waitsForRest: true } as const
    return { change: half, command: command && { ...command, at, since: undefined } }
  }
  if (action.stopFor === 'change') return { command }
  // A start stays recorded until a read shows that the pipe runs, because the reply is no proof.
  const isForChange = sent === 'start' && command?.isForChange
  return { command: sentAgain(command, { command: sent, at, ...(isForChange && { isForChange }) }) }
}

/** False for an update that needs a stopped pipe: list items must not be added or removed twice. */
function isRepeatable({ input: { kind }, fields }: Changing, { way }: ChangeStep): boolean {
  return way !== 'update' || !fields.some((field) => kind.changes?.needsRest(field) === true)
}

function pretended(changing: Changing, record: LedgerRecord): Acted {
  const { action, input } = changing
  const applied = action.isWhole ? input.desired.fingerprint : record.applied
  return { outcome: DONE, record: { ...record, applied }, history: [] }
}

function keptAfter({ assessment, input, fields }: Changing, looked: Look | undefined): readonly string[] {
  const { body } = assessment
  const { changes } = input.kind
  if (looked === undefined || body === undefined || changes === undefined) return []
  const compared = { desired: body, observed: looked.reply.value as JsonObject } // parsed JSON
  return keptFields(fields, { changes, compared })
}

function seenOutcome(
  { context, assessment, input, action, fields }: Changing,
  looked: Look | undefined,
  { requestId, kept }: { readonly requestId: string | undefined; readonly kept: readonly string[] },
): Done {
  const { entry, body } = assessment
  const done: Done = { ...DONE, requestId }
  const notSeen: Done = { ...done, ...notSeenYet(action.facts) }
  if (looked === undefined || body === undefined) return notSeen
  const { reply, readAt } = looked
  const { kind, desired } = input
  const { key } = desired
  const seen = noteReply(context, { key, entry, body, reply, readAt }, done)
  const { differences } = seen
  const own = differences.filter(({ field }) => fields.includes(fieldOfPath(field)))
  const compared = { desired: body, observed: reply.value as JsonObject } // parsed JSON
  const isHidden =
    kind.changes !== undefined && hiddenOf(fields, { changes: kind.changes, compared }).length > 0
  if (own.length === 0 && isHidden && differences.length === 0) return notSeen
  if (own.length === 0 && kept.length > 0) return { ...done, ...stalled(kept, 'once edited'), differences }
  if (own.length === 0)
    return differences.length > 0 ? seen : { ...done, reason: 'Applied', facts: { fields } }
  const isSlow = own.every(({ field }) => kind.changes?.isSlow(fieldOfPath(field)) === true)
  return {
    ...(isSlow
      ? notSeen
      : {
          ...done,
          ...stalled(
            own.map(({ field }) => field),
            'in an hour',
          ),
        }),
    differences,
  }
}

function notSeenYet(facts: FactsOf<'Changing'>): Because<'Changing'> {
  return { reason: 'Changing', facts: { ...facts, is: 'not seen yet' } }
}

function stalled(fields: readonly string[], again: FactsOf<'Stalled'>['again']): Because<'Stalled'> {
  return { reason: 'Stalled', facts: { fields, again } }
}

function sentRecord(
  changing: Changing,
  record: LedgerRecord,
  { outcome: { reason }, kept }: { readonly outcome: Done; readonly kept: readonly string[] },
): LedgerRecord {
  const { assessment } = changing
  const { fingerprint } = changing.input.desired
  if (fingerprint === undefined) return record
  const manifest = assessment.entry?.manifest
  const isSeen = reason === 'Applied' || reason === 'Drifted'
  const isSize = changing.action.steps.some(({ way }) => way === 'scale')
  return {
    ...(isSize ? withoutNewSize(record) : record),
    applied: {
      ...withKept(fingerprint, kept, record.applied?.fields ?? {}),
      secrets: { ...record.applied?.secrets, ...sentHashes(changing, fingerprint) },
    },
    platformName: manifest === undefined ? record.platformName : remoteNameOf(manifest),
    backoff: undefined,
    change: isSeen ? undefined : { ...begun(changing), isSent: true },
  }
}

function sentHashes({ action }: Changing, { secrets }: Fingerprint): Fingerprint['secrets'] {
  const refs = action.steps.flatMap(({ body }) => secretRefsIn(body))
  return Object.fromEntries(
    refs.flatMap(({ path }) => (secrets[path] === undefined ? [] : [[path, secrets[path]] as const])),
  )
}

/** Adds the fields that the service still has although the manifest does not, because their removal is pending. */
function withKept(
  { digest, fields }: Fingerprint,
  kept: readonly string[],
  before: Fingerprint['fields'],
): Pick<Fingerprint, 'digest' | 'fields'> {
  if (kept.length === 0) return { digest, fields }
  const still = kept.flatMap((field) =>
    before[field] === undefined ? [] : [[field, before[field]] as const],
  )
  return {
    digest: `${digest}, and still ${kept.join(', ')}`,
    fields: { ...fields, ...Object.fromEntries(still) },
  }
}

/** Otherwise, an operator's later stop would count as Pipewright's. */
function runsAgain(
  { input }: Changing,
  record: LedgerRecord,
  looked: Look | undefined,
): Partial<LedgerRecord> {
  if (!isStoppedForChange(record)) return {}
  const state = looked?.reply.value.state ?? undefined
  return isRunning({ ...input, observed: { status: 'found', state, differences: [] } })
    ? { command: undefined }
    : {}
}
