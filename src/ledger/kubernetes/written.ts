import { isObject } from '../../lib/json.ts'
import type { Cluster } from './cluster.ts'
import { ClusterError, type KubeObject } from './cluster-api.ts'
import { annotationIn, WRITES_ANNOTATION } from './lease-object.ts'
import { asLedgerError } from './ledger-secret.ts'
import { keptOf } from './record-object.ts'

/* How often the records of a ledger were written: their Lease remembers it, by which an earlier state of them is noticed. */

/** @param lease undefined: there is none */
export function writesIn(lease: KubeObject | undefined): number {
  return Number(annotationIn(lease, WRITES_ANNOTATION) ?? 0)
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

const TRIES = 5

/** The records are accepted as they are: the Lease says no longer that there were more. @throws {LedgerError} */
export async function acceptWrites(cluster: Cluster): Promise<void> {
  const { api, leases, name, records, selector } = cluster
  for (let tries = 1; ; tries += 1) {
    const lease = await readLease(cluster)
    try {
      const writes = writesOf((await api.list(records, selector)).items.map(keptOf))
      if (lease === undefined || lostOf(writesIn(lease), writes) === undefined) return
      const before = lease.metadata['annotations']
      const annotations = { ...(isObject(before) && before), [WRITES_ANNOTATION]: String(writes) }
      await api.replace(`${leases}/${name}`, { ...lease, metadata: { ...lease.metadata, annotations } })
      return
    } catch (error) {
      // Whoever holds it has renewed it.
      if (error instanceof ClusterError && error.status === 409 && tries < TRIES) continue
      throw asLedgerError(error)
    }
  }
}
