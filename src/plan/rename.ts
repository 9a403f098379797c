import type { Key } from '../kinds/key.ts'
import { leftSomething } from './gates.ts'
import type { Fingerprint, LedgerRecord } from './record.ts'

/** A pipe without a record that may be one that has a record and no manifest. */
export interface Newcomer {
  readonly key: Key
  /** `serviceId` of its service: a Service manifest may be renamed together with its pipes. */
  readonly serviceId: string
  readonly platformName: string
  readonly fingerprint: Fingerprint
}

/**
 * How a newcomer relates to a record without a manifest.
 * `same`: same service, same body: the record moves. `suspected`: the same service and either the same name on the
 * platform, or the same body under another name: a person says which.
 */
export type Kinship = { readonly from: LedgerRecord; readonly certainty: 'same' | 'suspected' }

/**
 * Compares a newcomer with all records without a manifest. Two that are `same` cannot be told apart: then it is
 * `suspected`. The order of `unclaimed` does not matter but for which of several suspects is named: the first.
 */
export function findKinship(newcomer: Newcomer, unclaimed: readonly LedgerRecord[]): Kinship | undefined {
  const related = unclaimed.filter(
    (record) => leftSomething(record) && record.service?.serviceId === newcomer.serviceId,
  )
  const same = related.filter((record) => record.applied?.digest === newcomer.fingerprint.digest)
  const only = same.length === 1 ? same[0] : undefined
  if (only !== undefined) return { from: only, certainty: 'same' }
  const suspect =
    same[0] ??
    related.find((record) => record.platformName === newcomer.platformName) ??
    related.find(
      (record) => record.applied !== undefined && sameButName(record.applied, newcomer.fingerprint),
    )
  return suspect === undefined ? undefined : { from: suspect, certainty: 'suspected' }
}

function sameButName(a: Fingerprint, b: Fingerprint): boolean {
  const fields = new Set([...Object.keys(a.fields), ...Object.keys(b.fields)])
  fields.delete('name')
  return [...fields].every((field) => a.fields[field] === b.fields[field])
}
