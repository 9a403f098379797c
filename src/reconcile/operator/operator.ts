import { syncStoreFromLedger, readRecord, historyEntry } from '../state/record-io.ts'
import { nounOf } from '../../kinds/lookup.ts'
import type { Key } from '../../kinds/key.ts'
import { nearest } from '../../lib/nearest.ts'
import { timeOf } from '../../kinds/instant.ts'
import type { Conditions } from '../../plan/condition.ts'
import { leftMs, retryFrom } from '../../plan/outcome-unknown.ts'
import type { Intent, LedgerRecord } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import type { NewEntry } from '../../contract/history.ts'
import { LedgerConflict } from '../../contract/ledger.ts'
import type { OperatorResult } from '../../contract/person-command.ts'

/** Conditions after a command. `Valid` stays, and the next reconcile sets the others. */
export function conditionsToRenew(
  conditions: Conditions | undefined,
  since: number,
  why: 'waiting' | 'allowed' = 'waiting',
): Conditions | undefined {
  if (conditions === undefined) return undefined
  const unknown = { status: 'Unknown', reason: 'Unobserved', facts: { why }, since } as const
  return { Valid: conditions.Valid, Synced: unknown, Ready: unknown }
}

export async function withRecord(
  context: ReconcileContext,
  key: Key,
  work: (recorded: LedgerRecord) => Promise<OperatorResult>,
): Promise<OperatorResult> {
  await syncStoreFromLedger(context)
  try {
    return await work(await readRecord(context, key))
  } catch (error) {
    if (!(error instanceof LedgerConflict)) throw error
    return refused(`The record of ${key} changed while this command ran. Run the command again.`)
  } finally {
    await readRecord(context, key).finally(() => context.store.claim(key, undefined))
  }
}

export function stillOnItsWay(
  { store, clock }: ReconcileContext,
  key: Key,
  intent: Intent,
): string | undefined {
  const left = leftMs(intent, retryFrom(intent), { now: clock.now(), steadyNow: store.steadyNow() })
  if (left <= 0) return undefined
  const why = stillDelivers(intent)
  return (
    `Attempt ${intent.attempt} of ${key} (intent ${intent.id}) began at ${timeOf(intent.openedAt)}. ${why}. ` +
    `A second create now could make two ${nounOf(key)}s. After ${timeOf(clock.now() + left)}, check the console once more and run this command again.`
  )
}

function stillDelivers({ state, lastsMs, seen }: Intent): string {
  if (state !== 'unknown')
    return 'The process that sent the request never reported the outcome, and the request might still be delivered'
  if (seen?.proxy !== undefined)
    return `Its request has ended, but the proxy ${seen.proxy} might still pass it on`
  return lastsMs === undefined
    ? 'Its request has ended, but the network might still deliver a part of it'
    : 'Its request has ended, but the service might still carry it out'
}

export function nothingToResolve({ key, version, remote, intent }: LedgerRecord): string {
  const nothing = `${key} has no create of unknown outcome: `
  if (version === 0) return `${nothing}the ledger has no record of it.`
  if (remote !== undefined) {
    return `${nothing}it has ${nounOf(key)} ${remote.id}, ${remote.origin} at ${timeOf(remote.at)}.`
  }
  if (intent === undefined) return `${nothing}no create was ever sent for it.`
  const attempt = `${nothing}attempt ${intent.attempt} (intent ${intent.id})`
  if (intent.state === 'dismissed')
    return `${attempt} was already resolved${intent.seen === undefined ? '' : `: ${intent.seen.what}`}. Pipewright sends the create again automatically.`
  return (
    `${attempt} created nothing` +
    `${intent.seen === undefined ? '' : ` (${intent.seen.what})`}. Pipewright sends the create again automatically.`
  )
}

export function noManifestWords({ catalog }: ReconcileContext['store'], key: Key): string {
  if (catalog?.problem !== undefined)
    return `The manifest of ${key} cannot be read. ${catalog.problem.message}`
  const near = nearest(key, catalog?.entries.keys() ?? [])
  const hint =
    near === undefined ? 'Write a manifest first, or set the right --manifests.' : `Did you mean ${near}?`
  return `There is no manifest of ${key}. ${hint}`
}

export function historyLine(
  context: ReconcileContext,
  recorded: LedgerRecord,
  what: Parameters<typeof historyEntry>[2],
): NewEntry {
  const { key, intent, remote } = recorded
  const requestId = remote?.requestId ?? intent?.seen?.requestId
  return historyEntry(context, key, { requestId, intentId: intent?.id, by: 'operator', ...what })
}

export function refused(message: string): OperatorResult {
  return { result: 'refused', message }
}

export function done(recorded: LedgerRecord, message: string): OperatorResult {
  const { remote, intent } = recorded
  return { result: 'done', message, pipeId: remote?.id, intentId: intent?.id, differences: [] }
}
