import type { Entry } from '../contract/catalog.ts'
import { isReference } from '../kinds/lookup.ts'
import { kindFor } from '../kinds/profile.ts'
import { intervalOf } from '../plan/requeue.ts'
import type { ReconcileContext } from './context.ts'
import { isLeftAlone } from './state/entry-policy.ts'

export function overdueChecks({ profile, store, clock, timing }: ReconcileContext): number {
  let count = 0
  for (const entry of store.catalog?.entries.values() ?? []) {
    if (store.judged.has(entry.key) || !isChecked(store.entry(entry.key) ?? entry, clock.now())) continue
    const { key, manifest } = entry
    const kind = kindFor(profile, { key, manifest, record: undefined })
    const at = store.checkedAt(key)
    if (
      at !== undefined &&
      store.steadyNow() - at > intervalOf({ kind, policy: manifest?.policy ?? {}, timing })
    )
      count += 1
  }
  return count
}

function isChecked(entry: Entry, now: number): boolean {
  return !isReference(entry.key) && !isLeftAlone(entry, now)
}
