import { kindOf, type Key } from '../kinds/key.ts'
import { changedFields } from '../kinds/fingerprint.ts'
import { isSameIdentity, sourceIn } from '../kinds/identity.ts'
import { sameId } from '../lib/same-id.ts'
import { mightHaveResource } from './gates.ts'
import type { Fingerprint, LedgerRecord } from './record.ts'

export interface Candidate {
  readonly key: Key
  /** Compared by id: a Service can be renamed together with its pipes. */
  readonly serviceId: string
  readonly platformName: string
  readonly fingerprint: Pick<Fingerprint, 'digest' | 'fields'>
  /** Paths of the fields that identify source and destination. Absent: not compared. */
  readonly identity?: readonly string[]
}

/**
 * `same`: same service and body, so the record moves to the new key once the old key's manifest is removed.
 * `suspected`: same service, and the same name, body or identity, so a person decides.
 * @returns the only record with the same body, or the first that is `suspected`
 */
export function findSimilar(
  candidate: Candidate,
  records: readonly LedgerRecord[],
): { readonly from: LedgerRecord; readonly certainty: 'same' | 'suspected' } | undefined {
  const related = records.filter(
    (record) =>
      kindOf(record.key) === kindOf(candidate.key) &&
      mightHaveResource(record) &&
      sameId(record.service?.serviceId, candidate.serviceId),
  )
  const { digest, fields } = candidate.fingerprint
  const same = related.filter((record) => formsOf(record).some((form) => form.digest === digest))
  const only = same.length === 1 ? same[0] : undefined
  if (only !== undefined) return { from: only, certainty: 'same' }
  const { identity = [] } = candidate
  const suspect =
    same[0] ??
    related.find((record) => record.platformName === candidate.platformName) ??
    related.find((record) => formsOf(record).some((form) => sameButName(form.fields, fields))) ??
    related.find((record) => formsOf(record).some((form) => isSameIdentity(identity, form.fields, fields)))
  return suspect === undefined ? undefined : { from: suspect, certainty: 'suspected' }
}

function formsOf({ applied, wanted }: LedgerRecord): readonly Candidate['fingerprint'][] {
  return [applied, wanted].filter((form) => form !== undefined)
}

/** Similar pipes share at least one of these hashes. Different pipes share one only by chance. */
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

export function hashesOfRecord(record: LedgerRecord, identity: readonly string[]): readonly number[] {
  const { service, platformName } = record
  if (service === undefined || !mightHaveResource(record)) return []
  const { serviceId } = service
  return [
    ...(platformName === undefined ? [] : [nameHash(serviceId, platformName)]),
    ...formsOf(record).flatMap(({ fields }) => [
      bodyHash(serviceId, fields),
      ...identityHashes(serviceId, identity, fields),
    ]),
  ]
}

function nameHash(serviceId: string, platformName: string): number {
  return shortHash(`${serviceId.toLowerCase()} ${platformName}`)
}

function bodyHash(serviceId: string, fields: Fingerprint['fields']): number {
  let hash = shortHash(serviceId.toLowerCase())
  for (const path of Object.keys(fields)) {
    if (path !== 'name') hash ^= shortHash(`${path}=${fields[path]}`)
  }
  return hash
}

function identityHashes(
  serviceId: string,
  paths: readonly string[],
  fields: Fingerprint['fields'],
): readonly number[] {
  const text = sourceIn(paths, fields)
  return text === undefined ? [] : [shortHash(`${serviceId.toLowerCase()}\n${text}`)]
}

function sameButName(a: Fingerprint['fields'], b: Fingerprint['fields']): boolean {
  return changedFields(a, b).every((path) => path === 'name')
}

/** @returns the FNV-1a hash, from 0 to below 2^31 */
function shortHash(text: string): number {
  let mixed = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) mixed = Math.imul(mixed ^ text.charCodeAt(i), 0x01000193)
  return mixed >>> 1
}
