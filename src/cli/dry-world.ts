import { setImmediate } from 'node:timers/promises'
import type { Catalog } from '../contract/catalog.ts'
import { openMemoryLedger } from '../ledger/open-sqlite-ledger.ts'
import type { ReconcileContext } from '../reconcile/context.ts'
import { createDryPlatform } from '../reconcile/dry-run/dry-platform.ts'
import { createStateStore } from '../reconcile/state/store.ts'
import { nobody } from './io.ts'

const AT_ONCE = 100

/** For plans: writes go to copies in memory, and requests that change the platform are not sent. */
export async function openDryWorld(
  context: Omit<ReconcileContext, 'store'>,
  catalog: Catalog,
  stack: AsyncDisposableStack,
): Promise<ReconcileContext> {
  const { profile, clock, ledger: original } = context
  const { hashKey } = original
  const ledger = stack.use(openMemoryLedger({ emit: nobody, hashKey }).ledger)
  const store = createStateStore({ profile, hashKey, clock })
  for (const [index, record] of (await original.list()).entries()) {
    store.note(await ledger.swap({ ...record, version: 0 }, []))
    // The pause lets the daemon that makes this plan do other work.
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate()
  }
  store.setCatalog(catalog)
  const platform = createDryPlatform(context.platform, context)
  return { ...context, ledger, platform, store, emit: nobody, fail: undefined }
}
