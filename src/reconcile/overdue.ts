import type { Entry } from '../contract/catalog.ts'
import { isResynced } from '../kinds/definition.ts'
import { isReference } from '../kinds/lookup.ts'
import { kindFor } from '../kinds/profile.ts'
import { parseDuration } from '../lib/duration.ts'
import type { ReconcileContext } from './context.ts'
import { isLeftAlone } from './state/entry-policy.ts'

export function overdueChecks(
  context: Pick<ReconcileContext, 'profile' | 'store' | 'clock' | 'timing'>,
): number {
  const { store, clock } = context
  const now = clock.now()
  let count = 0
  for (const entry of store.catalog?.entries.values() ?? []) {
    if (store.judged.has(entry.key) || !isChecked(store.entry(entry.key) ?? entry, now)) continue
    const at = store.checkedAt(entry.key)
    if (at !== undefined && now - at > intervalOf(entry, context)) count += 1
  }
  return count
}

function isChecked(entry: Entry, now: number): boolean {
  return !isReference(entry.key) && !isLeftAlone(entry, now)
}

function intervalOf(
  { key, manifest }: Entry,
  { profile, timing }: Pick<ReconcileContext, 'profile' | 'timing'>,
): number {
  const own = manifest?.policy?.interval
  const usual = isResynced(kindFor(profile, { key, manifest, record: undefined }))
    ? timing.resyncMs
    : timing.intervalMs
  return (own === undefined ? undefined : parseDuration(own)) ?? usual
}
