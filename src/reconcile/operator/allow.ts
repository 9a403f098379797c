import type { Allowance, Allowed } from '../../contract/allowance.ts'
import type { Entry } from '../../contract/catalog.ts'
import { LedgerConflict } from '../../contract/ledger.ts'
import type { Key } from '../../kinds/key.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import type { Conditions } from '../../plan/condition.ts'
import { deletionDigest } from '../../plan/delete-limit.ts'
import { messageOf } from '../../plan/reason.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { StateStore } from '../state/store.ts'
import { historyLine, type OperatorContext } from './operator.ts'

/** How long a person's word is good at least, and for each creation more: the request budget may be small. */
const GOOD_FOR_MS = 15 * 60_000
const EACH_MS = 2_000

interface Held {
  readonly record: LedgerRecord
  /** Of what its manifest says. */
  readonly digest: string
  readonly service: string | undefined
}

/** How many creations the create limit blocks, by service. Undefined: the service is not known. */
export function countBlocked(store: Pick<StateStore, 'entry' | 'records' | 'steadyNow'>) {
  const counts = new Map<string | undefined, number>()
  for (const { service } of heldOf(store, [...store.records()], { service: undefined }))
    counts.set(service, (counts.get(service) ?? 0) + 1)
  return counts
}

/**
 * `allow`: lets pass what a limit holds back at this moment, and nothing that comes later. Each record says so for
 * itself, so that a restart forgets nothing and a create uses it up.
 */
export async function allowCreations(context: OperatorContext, asked: Allowance): Promise<Allowed> {
  const { store, ledger } = context
  const all = heldOf(store, await ledger.list(), asked)
  if (asked.count !== undefined && all.length > asked.count) return { is: 'grown', count: all.length }
  if (asked.mode === 'dry-run') return { is: 'allowed', allowed: all.map(({ record }) => record.key) }
  const until = store.steadyNow() + GOOD_FOR_MS + EACH_MS * all.length
  const allowed: Key[] = []
  for (const held of all) if (await allowOne(context, held, asked, until)) allowed.push(held.record.key)
  return { is: 'allowed', allowed }
}

function heldOf(
  store: Pick<StateStore, 'entry' | 'steadyNow'>,
  records: readonly LedgerRecord[],
  asked: Pick<Allowance, 'service' | 'what'>,
): readonly Held[] {
  const { service } = asked
  const now = store.steadyNow()
  return records
    .flatMap((record) => {
      const digest = digestOf(store, record, asked)
      if (digest === undefined || !isHeldBack(record, digest, asked, now)) return []
      const its = serviceIn(store.entry(record.key)) ?? record.service?.name
      return service === undefined || its === service ? [{ record, digest, service: its }] : []
    })
    .toSorted((a, b) => (a.record.key < b.record.key ? -1 : 1))
}

/** Of what its manifest says, or of that there is none; undefined: nothing of it can be let pass now. */
function digestOf(
  store: Pick<StateStore, 'entry'>,
  record: LedgerRecord,
  { what }: Pick<Allowance, 'what'>,
): string | undefined {
  const entry = store.entry(record.key)
  if (what === 'deletions') return entry?.state === 'valid' ? deletionDigest(entry.digest, record) : undefined
  return entry?.state === 'valid' ? entry.digest : undefined
}

function limitOf({ what }: Pick<Allowance, 'what'>): 'CreateLimit' | 'DeleteLimit' {
  return what === 'deletions' ? 'DeleteLimit' : 'CreateLimit'
}

function isHeldBack(
  { conditions, allowed }: LedgerRecord,
  digest: string,
  asked: Pick<Allowance, 'what'>,
  now: number,
): boolean {
  if (conditions?.Synced.reason !== limitOf(asked)) return false
  return allowed === undefined || allowed.digest !== digest || allowed.until < now
}

function serviceIn(entry: Entry | undefined): string | undefined {
  return entry?.manifest && serviceOf(entry.manifest)
}

/** @returns whether it was still held back, and said the same, when it was written */
async function allowOne(
  context: OperatorContext,
  held: Held,
  asked: Pick<Allowance, 'what'>,
  until: number,
): Promise<boolean> {
  const { ledger, store, clock } = context
  const { digest } = held
  const { key } = held.record
  for (
    let record: LedgerRecord | undefined = held.record;
    record !== undefined;
    record = await ledger.get(key)
  ) {
    if (digestOf(store, record, asked) !== digest || !isHeldBack(record, digest, asked, store.steadyNow()))
      return false
    const isDeletion = asked.what === 'deletions'
    const message = isDeletion
      ? 'An operator allowed this deletion, although the limit on deletions is reached.'
      : 'An operator allowed this creation, although the create limit is reached.'
    const line = historyLine(context, record, {
      action: 'allow',
      reason: limitOf(asked),
      result: 'done',
      message,
    })
    try {
      const allowed = { digest, at: clock.now(), until }
      const conditions = record.conditions && awaiting(record.conditions, key, clock.now())
      store.note(await ledger.swap({ ...record, allowed, conditions }, [line]))
      return true
    } catch (error) {
      // The daemon wrote first: it is looked at again.
      if (!(error instanceof LedgerConflict)) throw error
    }
  }
  return false
}

/** It is not refused any more, and not created yet: with a small request budget, that takes a while. */
function awaiting(conditions: Conditions, key: Key, since: number): Conditions {
  const message = messageOf({ reason: 'Unobserved', facts: { why: 'allowed' } }, key)
  const unknown = { status: 'Unknown', reason: 'Unobserved', message, since } as const
  return { Valid: conditions.Valid, Synced: unknown, Ready: unknown }
}
