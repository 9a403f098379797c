import { isObject } from '../../lib/json.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { openCluster, type Cluster, type ClusterPlace } from './cluster.ts'
import { ClusterError, asLedgerError } from './cluster-error.ts'
import { WRITES_ANNOTATION } from './lease-object.ts'
import { openSetBack, readLedgerSecret } from './ledger-secret.ts'
import { keptOf } from './record-object.ts'
import { lostOf, readLease, writesIn, writesOf } from './written.ts'

const TRIES = 5

/**
 * A person accepts the records as they are, after they were put back to an earlier state.
 * @returns what was lost, in words; undefined: nothing was, as far as anybody noticed
 * @throws {LedgerError}
 */
export async function acceptKubernetesLedger(options: ClusterPlace): Promise<string | undefined> {
  await using cluster = await openCluster(options)
  const { api, name, secrets, shown } = cluster
  const secret = await readLedgerSecret(api, secrets, name)
  if (secret === undefined) throw new LedgerError('missing', `there is no ledger ${shown}.`)
  const what = openSetBack(secret)
  const lost = await acceptWrites(cluster)
  if (what !== undefined) await secret.change({ accepted: String(secret.setBack().times) })
  return what ?? lost
}

/** The Lease says no longer that there were more. @returns what it said, in words @throws {LedgerError} */
async function acceptWrites(cluster: Cluster): Promise<string | undefined> {
  const { api, leases, name, records, selector } = cluster
  for (let tries = 1; ; tries += 1) {
    const lease = await readLease(cluster)
    try {
      // After the Lease: what is written between the two is no loss.
      const writes = writesOf((await api.list(records, selector)).items.map(keptOf))
      const lost = lostOf(writesIn(lease), writes)
      if (lease === undefined || lost === undefined) return undefined
      const before = lease.metadata['annotations']
      const annotations = { ...(isObject(before) && before), [WRITES_ANNOTATION]: String(writes) }
      await api.replace(`${leases}/${name}`, { ...lease, metadata: { ...lease.metadata, annotations } })
      return lost
    } catch (error) {
      // Whoever holds it has renewed it.
      if (error instanceof ClusterError && error.status === 409 && tries < TRIES) continue
      throw asLedgerError(error)
    }
  }
}
