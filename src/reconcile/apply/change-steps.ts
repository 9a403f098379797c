import { type Line, currentRecord, lineOf, saying, swapped } from '../state/journal.ts'
import type { Looks, ReadOptions, Reply, ServiceAccess } from '../../contract/platform.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import type { CreateOnceKind } from '../../kinds/definition.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { sameJson, type JsonObject } from '../../lib/json.ts'
import { withSecrets } from '../../kinds/secret-ref.ts'
import type { Action, Step } from '../../plan/action.ts'
import { interruptedFields } from '../../plan/change-waits.ts'
import { AGAIN, withCorrections, withoutCorrections } from '../../plan/corrections.ts'
import { isFailed } from '../../plan/rest.ts'
import { attemptDigest, heldBack } from '../../plan/gates.ts'
import type { CreateOnceInput } from '../../plan/input.ts'
import { type Because, type FactsOf } from '../../plan/reason.ts'
import type { Fingerprint, LedgerRecord } from '../../plan/record.ts'
import type { Change, Command } from '../../plan/recorded-change.ts'
import { DecisionOutdated, type ReconcileContext } from '../context.ts'
import type { Assessment } from '../gather/assess.ts'
import { readBodySecrets, revealed } from '../gather/body-secrets.ts'
import { desiredService, recordedAccess, sameService } from '../gather/service-access.ts'
import { standing } from '../gather/surroundings.ts'

export type Update = Action & { readonly type: 'update' }

export interface Changing {
  readonly context: ReconcileContext
  readonly assessment: Assessment
  readonly input: CreateOnceInput
  readonly action: Update
  readonly options: ReadOptions
  readonly kind: CreateOnceKind
  readonly access: ServiceAccess
  readonly fingerprint: Fingerprint | undefined
  readonly id: string
  readonly facts: FactsOf<'Changing'>
  readonly fields: readonly string[]
}

/** Journals the reason before a stop: after a crash, the next process starts the pipe. */
export function stopNoted(changing: Changing, recorded: LedgerRecord): Promise<LedgerRecord> {
  const at = changing.context.store.steadyNow()
  const command = sentAgain(recorded.command, { command: 'stop', at, isForChange: true })
  return swapped(changing.context, { ...recorded, command, change: begun(changing) })
}

/** A continued step counts once. */
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
    isFailed(input) ? AGAIN.maxMs : undefined,
  )
}

/** Includes earlier steps that might be incomplete. */
export function begun({ context, input, fingerprint, fields: now }: Changing): Change {
  const fields = [...new Set([...(input.recorded.change?.fields ?? []), ...now])].toSorted()
  const digest = fingerprint === undefined ? '' : attemptDigest(fingerprint)
  const before = input.recorded.change
  const refusals = before?.digest === digest ? before.refusals : undefined
  return { digest, at: context.store.steadyNow(), fields, ...(refusals !== undefined && { refusals }) }
}

/** Repeats the start until a read shows that the pipe runs: a reply is no proof. */
export function startCommand(before: LedgerRecord['command'], at: number): LedgerRecord['command'] {
  return sentAgain(before, { command: 'start', at, ...(before?.isForChange && { isForChange: true }) })
}

export function sentAgain(before: LedgerRecord['command'], now: Command): Command {
  return before?.command === now.command ? { ...now, since: before.since ?? before.at } : now
}

/**
 * @param looks reads a resource whose whole body is sent, to keep other fields
 * @throws {DecisionOutdated} if the decision changed
 */
export async function bodyOf(
  changing: Changing,
  record: LedgerRecord,
  step: Step,
  looks: Looks,
): Promise<string> {
  const { context, assessment, input, action, access, fingerprint } = changing
  const { way } = step
  const body = looksFirst(changing, step) ? await wholeBody(changing, step, looks) : step.body
  const { store } = context
  const { key } = record
  const secrets = await readBodySecrets(context.mounted, context.mask, body)
  const current = await currentRecord(context, key)
  const entry = store.entry(key)
  const service = desiredService(store, entry?.manifest)
  // After our own stop, dependencies do not matter.
  const isCommand = way === 'state' && (body['command'] === 'start' || action.stopFor === 'rest')
  const surroundings = { ...input.surroundings, ...standing(store, { key, entry, service, fingerprint }) }
  const isSame =
    heldBack({ ...input, surroundings }, isCommand ? 'command' : 'change') === undefined &&
    sameJson(surroundings.claim, input.surroundings.claim) &&
    (secrets.missing.length === 0 || context.sourceSecrets === 'optional') &&
    current.version === record.version &&
    entry?.digest === assessment.entry?.digest &&
    store.desiredState(key) === input.desired.state &&
    sameService(service, assessment.service) &&
    recordedAccess(store, current, assessment.service)?.secretName === access.secretName &&
    [...secrets.values].every(
      ([path, secret]) => store.hashOf(secret) === input.desired.fingerprint?.secrets[path],
    )
  if (!isSame) throw new DecisionOutdated(key)
  return JSON.stringify(withSecrets(body, (path) => revealed(context, secrets, path)))
}

export function looksFirst({ kind }: Changing, { way }: Step): boolean {
  return way === 'update' && kind.changes?.replacesWhole === true
}

async function wholeBody(
  { kind, access, id, options, assessment, fields }: Changing,
  { way, body }: Step,
  looks: Looks,
): Promise<JsonObject> {
  const desired = assessment.body
  if (way === 'state' || kind.changes === undefined || desired === undefined) return body
  const { value } = await looks.read({ kind, service: access, id }, options)
  const observed = value as JsonObject // parsed JSON
  return kind.changes.request(way, new Set(fields), { desired, observed })
}

export interface Look {
  readonly reply: Reply<RemoteResource>
  /** Start of the read; monotonic ms. */
  readonly readAt: number
}

/** The reply to the change might be older. */
export async function look({ context, kind, access, id, options }: Changing): Promise<Look | undefined> {
  const readAt = context.clock.monotonic()
  try {
    return { reply: await context.platform.read({ kind, service: access, id }, options), readAt }
  } catch (error) {
    if (error instanceof RemoteError || options.signal.aborted) return undefined
    throw error
  }
}

export function entryOf({ context, input }: Changing, because: Because, requestId: string | undefined): Line {
  const { key } = input.desired
  return lineOf(context, key, { action: 'update', ...saying(because), requestId })
}
