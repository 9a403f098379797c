import type { Key } from '../../kinds/key.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { decodeRecord } from '../codec.ts'
import { keptBody, hasArrived, type Kept } from './record-object.ts'
import type { Mirror, Mirrored } from './record-mirror.ts'

/** The records that all processes see. A record that is being renamed has its old key until that is done. */
export function readMirror(mirror: Mirror) {
  const decoded = new WeakMap<Mirrored, LedgerRecord>()
  const keptAt = (key: Key): Kept | undefined => mirror.get(key)?.kept

  function recordOf(mirrored: Mirrored | undefined): LedgerRecord | undefined {
    if (mirrored === undefined) return undefined
    const { kept } = mirrored
    const isPlain = kept.movedFrom === undefined
    const known = isPlain ? decoded.get(mirrored) : undefined
    if (known !== undefined) return known
    const body = keptBody(kept, keptAt)
    if (body === undefined) return undefined
    const version = body === kept.body ? kept.version : (JSON.parse(body) as LedgerRecord).version
    const record = decodeRecord({ key: kept.key, version, body })
    if (isPlain) decoded.set(mirrored, record)
    return record
  }

  function versionOf(mirrored: Mirrored | undefined): number | undefined {
    if (mirrored === undefined) return undefined
    const { kept } = mirrored
    if (hasArrived(kept, keptAt)) return kept.body === undefined ? undefined : kept.version
    return recordOf(mirrored)?.version
  }

  /** Ordered by key. */
  function records(): readonly LedgerRecord[] {
    const inOrder = [...mirror.all()].toSorted((a, b) => (a.kept.key < b.kept.key ? -1 : 1))
    return inOrder.flatMap((mirrored) => recordOf(mirrored) ?? [])
  }

  function written(record: LedgerRecord): LedgerRecord {
    const mirrored = mirror.get(record.key)
    if (mirrored?.kept.version === record.version && mirrored.kept.movedFrom === undefined)
      decoded.set(mirrored, record)
    return record
  }

  return { keptAt, recordOf, versionOf, records, written }
}
