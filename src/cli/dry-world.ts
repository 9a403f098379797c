import { setImmediate } from 'node:timers/promises'
import type { Catalog } from '../contract/catalog.ts'
import type { Ledger } from '../contract/ledger.ts'
import { createMemoryLedger } from '../ledger/memory-backend.ts'
import { createDryContext } from '../reconcile/dry-run/dry-context.ts'
import type { ReconcileContext } from '../reconcile/context.ts'
import { nobody } from './io.ts'

/** Records that are copied in one go. */
const AT_ONCE = 100

/** The records of a ledger in one that is gone with the process. Its history stays behind. */
export async function copyLedger(ledger: Ledger): Promise<Ledger> {
  const copy = createMemoryLedger({ emit: nobody, hashKey: ledger.hashKey })
  let count = 0
  for (const record of await ledger.list()) {
    await copy.swap({ ...record, version: 0 }, [])
    count += 1
    // A daemon goes on meanwhile.
    if (count % AT_ONCE === 0) await setImmediate()
  }
  return copy
}

/** A world in which a plan can do what it likes. */
export async function openDryWorld(
  context: ReconcileContext,
  catalog: Catalog,
  stack: AsyncDisposableStack,
): Promise<ReconcileContext> {
  const copy = stack.use(await copyLedger(context.ledger))
  return createDryContext(context, { copy, catalog })
}
