import { changedFields } from '../kinds/fingerprint.ts'
import type { CreateOnceInput, DecideInput } from './input.ts'

export function editedFields(input: DecideInput): readonly string[] {
  if (!isEdited(input)) return []
  const { desired, recorded } = input
  const [before, after] = [recorded.applied?.fields ?? {}, desired.fingerprint?.fields ?? {}]
  return changedFields(before, after).filter((field) => {
    const isBoth = before[field] !== undefined && after[field] !== undefined
    return isBoth || (before[field] ?? after[field]) !== desired.unsetHash(field)
  })
}

/** Also true if only a value that counts as not set was added or removed. */
export function isEdited({ desired: { fingerprint }, recorded: { applied } }: DecideInput): boolean {
  return fingerprint !== undefined && applied !== undefined && fingerprint.digest !== applied.digest
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
