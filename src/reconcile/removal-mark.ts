import { removalSince } from '../plan/decide-removal.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Assessment } from './gather/assess.ts'
import { isLeftAlone } from './gather/entry-policy.ts'

/** What is kept for the time when a manifest is gone: what it said of that, and since when it is known to be gone. */
export function removalMark(
  { input, entry }: Pick<Assessment, 'input' | 'entry'>,
  { onRemove, removal }: LedgerRecord,
): Pick<LedgerRecord, 'onRemove' | 'removal'> {
  const { desired, now, steadyNow } = input
  const manifest = entry?.manifest
  if (manifest !== undefined) {
    const isAsked = manifest.policy?.onRemove === 'delete' && !isLeftAlone(entry, now)
    return { onRemove: isAsked ? 'delete' : undefined, removal: undefined }
  }
  if (entry !== undefined || onRemove === undefined) return { onRemove, removal: undefined }
  if (desired.state !== 'absent') return { onRemove, removal }
  return { onRemove, removal: { ...removal, since: removalSince({ removal }, steadyNow) } }
}
