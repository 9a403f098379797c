import { kindOf, type Key } from '../kinds/key.ts'
import { changedFields } from '../kinds/fingerprint.ts'
import { identityIn } from '../kinds/identity.ts'
import { shortHash } from '../lib/digest.ts'
import { sameId } from '../lib/same-id.ts'
import { leftSomething } from './gates.ts'
import type { Fingerprint, LedgerRecord } from './record.ts'

/** What has no record, and may be what another key has a record of. */
export interface Candidate {
  readonly key: Key
  /** `serviceId` of its service: a Service manifest may be renamed together with its pipes. */
  readonly serviceId: string
  readonly platformName: string
  readonly fingerprint: Pick<Fingerprint, 'digest' | 'fields'>
  /** Paths of the fields of its identity. Nothing: the identity is not compared. */
  readonly identity?: readonly string[]
}

/**
 * How a candidate relates to a record of another key of its kind.
 * `same`: same service, same body: the record moves, once its manifest is gone. `suspected`: the same service and either
 * the same name on the platform, the same body under another name, or the same identity: a person says which.
 */
export type Similarity = { readonly from: LedgerRecord; readonly certainty: 'same' | 'suspected' }

/**
 * Compares a candidate with records of other keys of its kind. Where two are `same`, nothing says which it is: then it is
 * `suspected`. The order of `records` does not matter but for which of several suspects is named: the first.
 */
export function findSimilar(candidate: Candidate, records: readonly LedgerRecord[]): Similarity | undefined {
  const related = records.filter(
    (record) =>
      kindOf(record.key) === kindOf(candidate.key) &&
      leftSomething(record) &&
      sameId(record.service?.serviceId, candidate.serviceId),
  )
  const same = related.filter((record) => record.applied?.digest === candidate.fingerprint.digest)
  const only = same.length === 1 ? same[0] : undefined
  if (only !== undefined) return { from: only, certainty: 'same' }
  const { identity = [] } = candidate
  const suspect =
    same[0] ??
    related.find((record) => record.platformName === candidate.platformName) ??
    related.find(({ applied }) => applied && sameButName(applied.fields, candidate.fingerprint.fields)) ??
    related.find(
      ({ applied }) => applied && sameIdentity(identity, applied.fields, candidate.fingerprint.fields),
    )
  return suspect === undefined ? undefined : { from: suspect, certainty: 'suspected' }
}

/**
 * Similar pipes share at least one of these numbers, by which records are looked up when there are many. Others may share one
 * by chance: {@link findSimilar} decides.
 */
export function hashesOfCandidate({
  serviceId,
  platformName,
  fingerprint,
  identity = [],
}: Candidate): readonly number[] {
  const { fields } = fingerprint
  return [
    nameHash(serviceId, platformName),
    bodyHash(serviceId, fields),
    ...identityHashes(serviceId, identity, fields),
  ]
}

/**
 * The numbers under which a record is found; none for what left nothing on the platform.
 * @param identity as of a {@link Candidate} of its kind
 */
export function hashesOfRecord(record: LedgerRecord, identity: readonly string[]): readonly number[] {
  const { service, platformName, applied } = record
  if (service === undefined || !leftSomething(record)) return []
  const { serviceId } = service
  return [
    ...(platformName === undefined ? [] : [nameHash(serviceId, platformName)]),
    ...(applied === undefined
      ? []
      : [bodyHash(serviceId, applied.fields), ...identityHashes(serviceId, identity, applied.fields)]),
  ]
}

function nameHash(serviceId: string, platformName: string): number {
  return shortHash(`${serviceId.toLowerCase()} ${platformName}`)
}

function bodyHash(serviceId: string, fields: Fingerprint['fields']): number {
  let hash = shortHash(serviceId.toLowerCase())
  for (const path of Object.keys(fields)) {
    // Put together so that their order does not matter.
    if (path !== 'name') hash ^= shortHash(`${path}=${fields[path]}`)
  }
  return hash
}

function identityHashes(
  serviceId: string,
  paths: readonly string[],
  fields: Fingerprint['fields'],
): readonly number[] {
  const text = identityIn(paths, fields)
  return text === undefined ? [] : [shortHash(`${serviceId.toLowerCase()}\n${text}`)]
}

/** Whether two bodies have one source and one destination. */
function sameIdentity(paths: readonly string[], a: Fingerprint['fields'], b: Fingerprint['fields']): boolean {
  const text = identityIn(paths, a)
  return text !== undefined && text === identityIn(paths, b)
}

/** Whether two bodies ask for the same, but for the name in them. */
function sameButName(a: Fingerprint['fields'], b: Fingerprint['fields']): boolean {
  return changedFields(a, b).every((path) => path === 'name')
}
