import type { ReconcileContext } from '../context.ts'
import type { Allowance, Allowed } from '../../contract/person-command.ts'
import { LedgerConflict } from '../../contract/ledger.ts'
import type { Key } from '../../kinds/key.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import { isAllowed, deletionDigest } from '../../plan/write-limits.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { StateStore } from '../state/store.ts'
import { conditionsToRenew, historyLine } from './operator.ts'

type Limit = 'CreateLimit' | 'DeleteLimit'

/** Ms. An allowance lasts this long, plus `EACH_MS` per key. */
const GOOD_FOR_MS = 15 * 60_000
const EACH_MS = 2_000

/** Allows only what a limit blocks now. Each allowance lasts until a request uses it, or until it expires. */
export async function allowBlocked(context: ReconcileContext, asked: Allowance): Promise<Allowed> {
  const { store, ledger } = context
  const { service, count, dryRun, deletions } = asked
  const limit = deletions ? 'DeleteLimit' : 'CreateLimit'
  const records = (await ledger.list()).filter(
    (record) => service === undefined || service === serviceNamed(store, record),
  )
  if (service !== undefined && records.length === 0 && store.entry(`Service/${service}`) === undefined)
    return { allowed: [], isWithoutService: true }
  const blocked = records
    .flatMap((record) => {
      const digest = blockedDigest(store, record, limit)
      return digest === undefined ? [] : [{ record, digest }]
    })
    .toSorted((a, b) => (a.record.key < b.record.key ? -1 : 1))
  if (count !== undefined && blocked.length > count) return { blocked: blocked.length }
  const until = store.steadyNow() + GOOD_FOR_MS + EACH_MS * blocked.length
  const allowed: Key[] = []
  for (const { record, digest } of blocked)
    if (dryRun || (await allowOne(context, record, limit, { digest, until }))) allowed.push(record.key)
  return { allowed }
}

function serviceNamed(store: Pick<StateStore, 'entry'>, { key, service }: LedgerRecord): string | undefined {
  const manifest = store.entry(key)?.manifest
  return (manifest && serviceOf(manifest)) ?? service?.name
}

/** @returns undefined if the limit does not block the key, or if the request is already allowed */
function blockedDigest(
  store: Pick<StateStore, 'entry' | 'steadyNow'>,
  record: LedgerRecord,
  limit: Limit,
): string | undefined {
  const entry = store.entry(record.key)
  if (entry?.state !== 'valid' || record.conditions?.Synced.reason !== limit) return undefined
  const digest = limit === 'DeleteLimit' ? deletionDigest(entry.digest, record) : entry.digest
  return isAllowed(record, digest, store.steadyNow()) ? undefined : digest
}

/** @returns false if the key is no longer blocked, or was edited */
async function allowOne(
  context: ReconcileContext,
  listed: LedgerRecord,
  limit: Limit,
  allowed: { readonly digest: string; readonly until: number },
): Promise<boolean> {
  const { ledger, store, clock } = context
  const { key } = listed
  for (let record: LedgerRecord | undefined = listed; record !== undefined; record = await ledger.get(key)) {
    if (blockedDigest(store, record, limit) !== allowed.digest) return false
    const at = clock.now()
    const said = {
      action: 'allow',
      reason: limit,
      result: 'done',
      because: record.conditions?.Synced ?? { reason: limit },
    } as const
    const conditions = conditionsToRenew(record.conditions, at, 'allowed')
    try {
      const changed = { ...record, allowed: { ...allowed, at }, conditions }
      store.note(await ledger.swap(changed, [historyLine(context, record, said)]))
      return true
    } catch (error) {
      if (!(error instanceof LedgerConflict)) throw error
    }
  }
  return false
}
