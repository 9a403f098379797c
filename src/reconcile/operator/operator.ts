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

/* Also safe beside a daemon: compare-and-set rejects its outdated decisions. */

export type OperatorContext = Pick<
  ReconcileContext,
  'profile' | 'platform' | 'ledger' | 'secrets' | 'mask' | 'store' | 'clock'
>

export type OperatorResult =
  | {
      readonly result: 'done'
      /** Result and next step. */
      readonly message: string
      readonly pipeId: string | undefined
      readonly intentId: string | undefined
      readonly differences: readonly Difference[]
    }
  | {
      readonly result: 'refused'
      /** Reason and alternative. The ledger is unchanged. */
      readonly message: string
    }

/** Conditions after a command. The next reconcile determines all except `Valid`. */
export function conditionsToRenew(
  conditions: Conditions | undefined,
  key: Key,
  since: number,
  why: 'waiting' | 'allowed' = 'waiting',
): Conditions | undefined {
  if (conditions === undefined) return undefined
  const message = messageOf({ reason: 'Unobserved', facts: { why } }, key)
  const unknown = { status: 'Unknown', reason: 'Unobserved', message, since } as const
  return { Valid: conditions.Valid, Synced: unknown, Ready: unknown }
}

const MOST_ROUNDS = 5

/** Repeats after a conflict. */
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

/** Why to wait: a daemon might be sending the open intent. */
export async function inFlight(
  { ledger, clock, store }: OperatorContext,
  key: Key,
  intent: Intent,
): Promise<string | undefined> {
  const leftMs = intent.endBy - store.steadyNow()
  if (intent.state !== 'open' || leftMs <= 0 || !(await ledger.owned())) return undefined
  return (
    `The create of ${key} (intent ${intent.id}) began at ${timeOf(intent.openedAt)} and might still be under way. ` +
    `Run this again after ${timeOf(clock.now() + leftMs)}, if "pipewright status ${key}" still shows it. Or stop the daemon first.`
  )
}

/** Why to wait: the earlier request might arrive. */
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
    return 'The process that sent its request never reported its end, and the request might still be delivered'
  return seen?.proxy === undefined
    ? 'Its request has ended, but the network might still deliver a part of it'
    : `Its request has ended, but the proxy ${seen.proxy} may still pass it on`
}

export function nothingToResolve({ key, version, remote, intent }: LedgerRecord): string {
  const nothing = `${key} has no open create: `
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
