import type { Entry } from '../../contract/catalog.ts'
import { LedgerConflict } from '../../contract/ledger.ts'
import type { Key } from '../../kinds/key.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { historyLine, type OperatorContext } from './operator.ts'

/** How long a person's word is good at least, and for each creation more: the request budget may be small. */
const GOOD_FOR_MS = 15 * 60_000
const EACH_MS = 2_000

/**
 * `allow`: lets pass what the create limit holds back at this moment, and nothing that comes later. Each record says so for
 * itself, so that a restart forgets nothing and a create uses it up.
 * @param service only what is to be created there
 * @returns the keys, in order
 */
export async function allowCreations(
  context: OperatorContext,
  service: string | undefined,
): Promise<readonly Key[]> {
  const { store, ledger } = context
  const records = (await ledger.list()).filter((record) => {
    const entry = store.entry(record.key)
    return isHeldBack(record, entry) && (service === undefined || serviceIn(entry) === service)
  })
  const until = store.steadyNow() + GOOD_FOR_MS + EACH_MS * records.length
  const allowed: Key[] = []
  for (const record of records) if (await allowOne(context, record, until)) allowed.push(record.key)
  return allowed
}

function isHeldBack({ conditions }: LedgerRecord, entry: Entry | undefined): boolean {
  return entry?.state === 'valid' && conditions?.Synced.reason === 'CreateLimit'
}

function serviceIn(entry: Entry | undefined): string | undefined {
  return entry?.manifest && serviceOf(entry.manifest)
}

/** @returns whether it was still held back when it was written */
async function allowOne(context: OperatorContext, first: LedgerRecord, until: number): Promise<boolean> {
  const { ledger, store, clock } = context
  const { key } = first
  for (let record: LedgerRecord | undefined = first; record !== undefined; record = await ledger.get(key)) {
    const entry = store.entry(key)
    if (entry === undefined || !isHeldBack(record, entry)) return false
    const message = 'An operator allowed this creation, although the create limit is reached.'
    const line = historyLine(context, record, {
      action: 'allow',
      reason: 'CreateLimit',
      result: 'done',
      message,
    })
    try {
      const allowed = { digest: entry.digest, at: clock.now(), until }
      store.note(await ledger.swap({ ...record, allowed }, [line]))
      return true
    } catch (error) {
      // The daemon wrote first: it is looked at again.
      if (!(error instanceof LedgerConflict)) throw error
    }
  }
  return false
}
