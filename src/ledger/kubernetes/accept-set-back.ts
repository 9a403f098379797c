import { LedgerError } from '../../contract/ledger.ts'
import { openCluster, type Cluster, type ClusterPlace } from './cluster.ts'
import { ClusterError, asLedgerError } from './cluster-error.ts'
import type { KubeObject } from './cluster-api.ts'
import { lostWrites, WRITES_ANNOTATION } from './lease-object.ts'
import { readLedgerSecret } from './ledger-secret.ts'
import { keptOf } from './record-object.ts'

const TRIES = 5

/**
 * A person accepts the records as they are, after they were put back to an earlier state.
 * @returns what was lost, in words; undefined: nothing was, as far as anybody noticed
 * @throws {LedgerError}
 */
export async function acceptKubernetesLedger(options: ClusterPlace): Promise<string | undefined> {
  await using cluster = await openCluster(options)
  const { api, name, secrets, shown } = cluster
  try {
    const secret = await readLedgerSecret(api, secrets, name)
    if (secret === undefined) throw new LedgerError('missing', `there is no ledger ${shown}.`)
    const lost = await acceptLost(cluster)
    const { times, accepted, what } = secret.setBack()
    if (times > accepted) await secret.change({ accepted: String(times) })
    return times > accepted ? what : lost
  } catch (error) {
    throw asLedgerError(error)
  }
}

/** The Lease no longer asks for more than is there. @returns what was lost, as far as it said */
async function acceptLost({ api, leases, name, records, selector }: Cluster): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const lease = await leaseAt(api, `${leases}/${name}`)
    // After the Lease: what is written between the two is no loss.
    const { items } = await api.list(records, selector)
    const writes = items.reduce((sum, object) => sum + keptOf(object).version, 0)
    const lost = lostWrites(lease, writes)
    if (lease === undefined || lost === undefined) return undefined
    const { metadata } = lease
    const annotations = { ...(metadata['annotations'] as object), [WRITES_ANNOTATION]: String(writes) }
    try {
      await api.replace(`${leases}/${name}`, { ...lease, metadata: { ...metadata, annotations } })
      return lost
    } catch (error) {
      // Whoever holds it has renewed it meanwhile.
      if (!(error instanceof ClusterError) || error.status !== 409 || tries === TRIES) throw error
    }
  }
}

async function leaseAt(api: Cluster['api'], path: string): Promise<KubeObject | undefined> {
  try {
    return await api.get(path)
  } catch (error) {
    if (error instanceof ClusterError && error.status === 404) return undefined
    throw error
  }
}
