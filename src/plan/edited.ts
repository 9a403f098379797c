import { changedFields } from '../kinds/fingerprint.ts'
import type { CreateOnceInput, DecideInput } from './input.ts'

export function editedFields({ desired, recorded }: DecideInput): readonly string[] {
  const { fingerprint } = desired
  const { applied } = recorded
  if (fingerprint === undefined || applied === undefined || fingerprint.digest === applied.digest) return []
  return changedFields(applied.fields, fingerprint.fields)
}

export function isSameSecret({ desired, recorded }: CreateOnceInput, field: string): boolean {
  const sent = recorded.applied?.secrets[field]
  return sent !== undefined && sent === desired.fingerprint?.secrets[field]
}

export function rotatedSecrets({ desired, recorded }: CreateOnceInput): readonly string[] {
  const before = recorded.applied?.secrets ?? {}
  const after = desired.fingerprint?.secrets ?? {}
  return Object.keys(after)
    .filter((path) => before[path] !== undefined && before[path] !== after[path])
    .toSorted()
}
