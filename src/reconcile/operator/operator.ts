import { nounOf } from '../../kinds/lookup.ts'
import type { Difference } from '../../kinds/difference.ts'
import type { Key } from '../../kinds/key.ts'
import { timeOf } from '../../kinds/instant.ts'
import type { Conditions } from '../../plan/condition.ts'
import { messageOf } from '../../plan/reason.ts'
import { retryFrom } from '../../plan/outcome-unknown.ts'
import { type Intent, type LedgerRecord, blankRecord } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import type { HistoryEntry } from '../../contract/history.ts'
import { LedgerConflict } from '../../contract/ledger.ts'

/*
 * The operator's commands, as operations on the ledger (design §5): also beside a running daemon, which the
 * ledger's compare-and-set keeps from deciding on what is no longer so. Each command is a file of its own:
 * `person-adopt.ts`, `person-retry.ts`, `person-recreate.ts`, `person-forget.ts`.
 */

export type OperatorContext = Pick<
  ReconcileContext,
  'profile' | 'platform' | 'ledger' | 'secrets' | 'mask' | 'store' | 'clock'
>

/** What became of an operator's command. */
export type OperatorResult =
  | {
      readonly result: 'done'
      /** What happened, and what comes next. */
      readonly message: string
      readonly pipeId: string | undefined
      readonly intentId: string | undefined
      /** What the platform reports otherwise than the manifest says. */
      readonly differences: readonly Difference[]
    }
  | {
      readonly result: 'refused'
      /** Why, and what to do instead. Nothing was written. */
      readonly message: string
    }

/** What is still known after a person's word: whether the manifest is valid. The rest is found out anew. */
export function conditionsToRenew(
  conditions: Conditions | undefined,
  key: Key,
  since: number,
): Conditions | undefined {
  if (conditions === undefined) return undefined
  const message = messageOf({ reason: 'Unobserved', facts: { why: 'waiting' } }, key)
  const unknown = { status: 'Unknown', reason: 'Unobserved', message, since } as const
  return { Valid: conditions.Valid, Synced: unknown, Ready: unknown }
}

/** So many other writers of one record in a row are no coincidence. */
const MOST_ROUNDS = 5

/** Reads the record, and everything anew when somebody else wrote it in the meantime. */
export async function inRounds(
  { ledger, store }: Pick<OperatorContext, 'ledger' | 'store'>,
  key: Key,
  work: (recorded: LedgerRecord) => Promise<OperatorResult>,
): Promise<OperatorResult> {
  for (let round = 1; ; round += 1) {
    for (const record of await ledger.list()) store.note(record)
    const recorded = await ledger.get(key)
    if (recorded === undefined) store.drop(key)
    try {
      return await work(recorded ?? blankRecord(key))
    } catch (error) {
      if (!(error instanceof LedgerConflict)) throw error
      if (round === MOST_ROUNDS) return refused(`The record of ${key} keeps changing. Try again.`)
    }
  }
}

/** Why a command about an open intent has to wait: a living daemon may be sending it at this moment. */
export async function inFlight(
  { ledger, clock, store }: OperatorContext,
  key: Key,
  intent: Intent,
): Promise<string | undefined> {
  const leftMs = intent.endBy - store.steadyNow()
  if (intent.state !== 'open' || leftMs <= 0 || !(await ledger.owned())) return undefined
  return (
    `The create of ${key} (intent ${intent.id}) began at ${timeOf(intent.openedAt)} and may still be under way. ` +
    `Run this again after ${timeOf(clock.now() + leftMs)}, if "pipewright status ${key}" still shows it. Or stop the daemon first.`
  )
}

/** Why a command that lets the key create again has to wait: what was sent may still arrive. */
export function stillOnItsWay(
  { store, clock }: OperatorContext,
  key: Key,
  intent: Intent,
): string | undefined {
  const leftMs = retryFrom(intent) - store.steadyNow()
  if (leftMs <= 0) return undefined
  const why = stillDelivers(intent)
  return (
    `Attempt ${intent.attempt} of ${key} (intent ${intent.id}) began at ${timeOf(intent.openedAt)}. ${why}. To create again ` +
    `now could make two ${nounOf(key)}s. Check the console once more, then run this again after ${timeOf(clock.now() + leftMs)}.`
  )
}

function stillDelivers({ state, seen }: Intent): string {
  if (state !== 'unknown')
    return 'The process that sent its request never reported its end, and the request may still be delivered'
  return seen?.proxy === undefined
    ? 'Its request has ended, but the network may still deliver a part of it'
    : `Its request has ended, but the proxy ${seen.proxy} may still pass it on`
}

/** The state of a record that leaves nothing to resolve, in words. */
export function nothingToResolve({ key, version, remote, intent }: LedgerRecord): string {
  const nothing = `There is nothing to resolve for ${key}: `
  if (version === 0) return `${nothing}the ledger has no record of it.`
  if (remote !== undefined) {
    return `${nothing}it has ${nounOf(key)} ${remote.id}, ${remote.origin} at ${timeOf(remote.at)}.`
  }
  if (intent === undefined) return `${nothing}no create was ever sent for it.`
  const attempt = `${nothing}attempt ${intent.attempt} (intent ${intent.id})`
  if (intent.state === 'dismissed')
    return `${attempt} is settled${intent.seen === undefined ? '' : `: ${intent.seen.what}`}. It will be tried again automatically.`
  return (
    `${attempt} created nothing` +
    `${intent.seen === undefined ? '' : ` (${intent.seen.what})`}, and it will be tried again automatically.`
  )
}

/** When the next reconcile is. */
export async function when({ ledger }: Pick<OperatorContext, 'ledger'>): Promise<string> {
  return (await ledger.owned()) ? ', in a second or two' : ', once "pipewright run" or "apply" is started'
}

export function historyLine(
  { clock, store }: OperatorContext,
  recorded: LedgerRecord,
  what: Pick<HistoryEntry & { readonly type: 'action' }, 'action' | 'reason' | 'result' | 'message'>,
): HistoryEntry {
  const { key, intent, remote } = recorded
  const requestId = remote?.requestId ?? intent?.seen?.requestId
  const { revision } = store
  return { type: 'action', key, at: clock.now(), revision, requestId, intentId: intent?.id, ...what }
}

export function refused(message: string): OperatorResult {
  return { result: 'refused', message }
}

export function done(recorded: LedgerRecord, message: string): OperatorResult {
  const { remote, intent } = recorded
  return { result: 'done', message, pipeId: remote?.id, intentId: intent?.id, differences: [] }
}
