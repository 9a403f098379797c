import type { Key } from '../kinds/key.ts'
import { sha256 } from '../lib/digest.ts'
import { sameId } from '../lib/same-id.ts'
import { leftSomething } from './gates.ts'
import type { Fingerprint, LedgerRecord } from './record.ts'

/** A pipe without a record that may be one that has a record already. */
export interface Newcomer {
  readonly key: Key
  /** `serviceId` of its service: a Service manifest may be renamed together with its pipes. */
  readonly serviceId: string
  readonly platformName: string
  readonly fingerprint: Pick<Fingerprint, 'digest' | 'fields'>
}

/**
 * How a newcomer relates to a record of another key.
 * `same`: same service, same body: the record moves, once its manifest is gone. `suspected`: the same service and either
 * the same name on the platform, or the same body under another name: a person says which.
 */
export type Kinship = { readonly from: LedgerRecord; readonly certainty: 'same' | 'suspected' }

/**
 * Compares a newcomer with records of other keys. Two that are `same` cannot be told apart: then it is
 * `suspected`. The order of `records` does not matter but for which of several suspects is named: the first.
 */
export function findKinship(newcomer: Newcomer, records: readonly LedgerRecord[]): Kinship | undefined {
  const related = records.filter(
    (record) => leftSomething(record) && sameId(record.service?.serviceId, newcomer.serviceId),
  )
  const same = related.filter((record) => record.applied?.digest === newcomer.fingerprint.digest)
  const only = same.length === 1 ? same[0] : undefined
  if (only !== undefined) return { from: only, certainty: 'same' }
  const body = bodyMark(newcomer.fingerprint)
  const suspect =
    same[0] ??
    related.find((record) => record.platformName === newcomer.platformName) ??
    related.find((record) => record.applied !== undefined && bodyMark(record.applied) === body)
  return suspect === undefined ? undefined : { from: suspect, certainty: 'suspected' }
}

/** Texts of which two kin share at least one: what to look records up by, when there are many. */
export function marksOfNewcomer({ serviceId, platformName, fingerprint }: Newcomer): readonly string[] {
  return [mark(serviceId, 'name', platformName), mark(serviceId, 'body', bodyMark(fingerprint))]
}

/** The texts under which a record is found by its kin; none for what left nothing on the platform. */
export function marksOfRecord(record: LedgerRecord): readonly string[] {
  const { service, platformName, applied } = record
  if (service === undefined || !leftSomething(record)) return []
  return [
    ...(platformName === undefined ? [] : [mark(service.serviceId, 'name', platformName)]),
    ...(applied === undefined ? [] : [mark(service.serviceId, 'body', bodyMark(applied))]),
  ]
}

function mark(serviceId: string, what: 'name' | 'body', text: string): string {
  return `${serviceId.toLowerCase()} ${what} ${text}`
}

const bodyMarks = new WeakMap<Fingerprint['fields'], string>()

/** Stands for a body but for the name in it. */
function bodyMark({ fields }: Pick<Fingerprint, 'fields'>): string {
  const known = bodyMarks.get(fields)
  if (known !== undefined) return known
  const paths = Object.keys(fields).filter((path) => path !== 'name')
  const digest = sha256(
    paths
      .toSorted()
      .map((path) => `${path}=${fields[path]}`)
      .join('\n'),
  )
  bodyMarks.set(fields, digest)
  return digest
}
