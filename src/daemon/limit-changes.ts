import type { Key } from '../kinds/key.ts'
import { serviceOf } from '../kinds/manifest.ts'
import { isLimited, type LimitedService, limitedServices } from '../reconcile/gather/creations-of-service.ts'
import type { ReconcileContext } from '../reconcile/context.ts'

type Known = Pick<ReconcileContext, 'store' | 'clock' | 'maxCreates' | 'emit'>

/** Says in which services the create limit is reached, and no more; to be called after anything about that may have changed. */
export function createLimitChanges(context: Known): { readonly emitNew: () => void } {
  const { store, emit, maxCreates: limit } = context
  /** By what the platform knows them by. */
  let limited: ReadonlyMap<string, LimitedService> = new Map()
  let isFirst = true

  return {
    emitNew() {
      const before = limited
      const wasKnown = isFirst
      isFirst = false
      limited = new Map(limitedServices(context).map((each) => [each.group, each]))
      for (const [group, { service, wanted, made }] of limited)
        if (!before.has(group))
          emit({
            type: 'CreateLimitChanged',
            on: true,
            service,
            wanted,
            made,
            limit,
            services: limited.size,
            keys: heldIn(context, service),
            isKnown: wasKnown && isRecorded(context, service),
          })
      for (const [group, { service }] of before) {
        if (limited.has(group)) continue
        const { wanted, made } = store.creations.in(group)
        const facts = { service, wanted, made: made.length, limit, services: limited.size }
        emit({ type: 'CreateLimitChanged', on: false, ...facts, keys: [], isKnown: false })
      }
    },
  }
}

/** Keys that are named. */
const KEYS_NAMED = 5

/** The first of those that the limit holds in a service, by the name of its manifest. */
function heldIn(context: Known, service: string): readonly Key[] {
  const { store } = context
  const held: Key[] = []
  for (const { key, manifest } of store.catalog?.entries.values() ?? []) {
    if (held.length === KEYS_NAMED) break
    if (store.lifecycleOf(key) !== 'create-once' || store.record(key)?.remote !== undefined) continue
    if (manifest !== undefined && serviceOf(manifest) === service && isLimited(context, key)) held.push(key)
  }
  return held
}

/** Whether the ledger remembers that the limit held something in a service. */
function isRecorded({ store }: Known, service: string): boolean {
  return [...store.records()].some(({ key, conditions }) => {
    const manifest = store.entry(key)?.manifest
    return (
      conditions?.Synced.reason === 'CreateLimit' && manifest !== undefined && serviceOf(manifest) === service
    )
  })
}
