import type { Cluster } from './cluster.ts'
import type { KubeObject } from './cluster-api.ts'
import { ClusterError, asLedgerError } from './cluster-error.ts'
import { countOf } from './ledger-secret.ts'
import { annotationIn, WRITES_ANNOTATION } from './lease-object.ts'

/* How often the records of a ledger were written: their Lease remembers it, by which an earlier state of them is noticed. */

/** @param lease undefined: there is none */
export function writesIn(lease: KubeObject | undefined): number {
  return countOf(annotationIn(lease, WRITES_ANNOTATION)) ?? 0
}

/** As `Mirror.writes`. */
export function writesOf(objects: readonly { readonly version: number }[]): number {
  return objects.reduce((sum, { version }) => sum + version, 0)
}

/** @returns what is lost, in words; undefined: nothing is */
export function lostOf(before: number, now: number): string | undefined {
  if (now >= before) return undefined
  return `its records had been written ${before} times, and ${now} of these writes are there`
}

/** @returns undefined: there is none @throws {LedgerError} */
export async function readLease({ api, leases, name }: Cluster): Promise<KubeObject | undefined> {
  try {
    return await api.get(`${leases}/${name}`)
  } catch (error) {
    if (error instanceof ClusterError && error.status === 404) return undefined
    throw asLedgerError(error)
  }
}
