import { changedFields } from '../kinds/fingerprint.ts'
import type { CreateOnceInput, DecideInput } from './input.ts'

/** Paths that were edited since it was created, changed or applied. The digests tell whether there are any; fields are made only to name them. */
export function editedFields({ desired, recorded }: DecideInput): readonly string[] {
  const { fingerprint } = desired
  const { applied } = recorded
  if (fingerprint === undefined || applied === undefined || fingerprint.digest === applied.digest) return []
  return changedFields(applied.fields, fingerprint.fields)
}

/** Paths whose secret has another value than the one that was sent; one that cannot be read now is not "changed". */
export function rotatedSecrets({ desired, recorded }: CreateOnceInput): readonly string[] {
  const before = recorded.applied?.secrets ?? {}
  const after = desired.fingerprint?.secrets ?? {}
  return Object.keys(after)
    .filter((path) => before[path] !== undefined && before[path] !== after[path])
    .toSorted()
}
