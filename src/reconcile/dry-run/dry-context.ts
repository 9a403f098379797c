import type { Catalog } from '../../contract/catalog.ts'
import type { Ledger } from '../../contract/ledger.ts'
import { createStateStore } from '../state/store.ts'
import type { ReconcileContext } from '../context.ts'
import { createDryPlatform } from './dry-platform.ts'

/**
 * A world like the one of `context`, in which whatever is done stays without consequence: records are written to `copy`, requests
 * that would change something go nowhere, nobody is told, and what is found out is noted in a store of its own.
 * @param copy a ledger that holds what the real one does
 */
export async function createDryContext(
  context: Omit<ReconcileContext, 'store'>,
  { copy, catalog }: { readonly copy: Ledger; readonly catalog: Catalog },
): Promise<ReconcileContext> {
  const { profile, clock } = context
  const store = createStateStore({ profile, hashKey: copy.hashKey, clock })
  for (const record of await copy.list()) store.note(record)
  store.setCatalog(catalog)
  const platform = createDryPlatform(context.platform, context)
  return { ...context, ledger: copy, platform, store, emit: () => undefined, fail: undefined }
}
