import type { Key } from '../kinds/key.ts'
import { type LimitedService, limitedServices } from '../reconcile/gather/creations-of-service.ts'
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
      for (const [group, { service, wanted, made, keys }] of limited)
        if (!before.has(group))
          emit({
            type: 'CreateLimitChanged',
            on: true,
            service,
            wanted,
            made,
            limit,
            services: limited.size,
            keys: keys.slice(0, KEYS_NAMED),
            isKnown: wasKnown && isRecorded(context, keys),
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

/** Keys that an event names. */
const KEYS_NAMED = 5

/** Whether the ledger remembers that the limit blocked one of these. */
function isRecorded({ store }: Known, keys: readonly Key[]): boolean {
  return keys.some((key) => store.record(key)?.conditions?.Synced.reason === 'CreateLimit')
}
