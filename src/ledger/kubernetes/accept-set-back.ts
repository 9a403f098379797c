import { isObject } from '../../lib/json.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { openCluster, type Cluster, type ClusterPlace } from './cluster.ts'
import type { KubeObject } from './cluster-api.ts'
import { ClusterError, asLedgerError } from './cluster-error.ts'
import { WRITES_ANNOTATION } from './lease-object.ts'
import { openSetBack, readLedgerSecret } from './ledger-secret.ts'
import { isRecordOf, keptOf } from './record-object.ts'
import { lostOf, readLease, writesIn, writesOf } from './written.ts'

const TRIES = 20

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
  const { times } = secret.setBack()
  const what = openSetBack(secret)
  const lost = await acceptWrites(cluster)
  if (what !== undefined) await secret.change({ setBacks: String(times), accepted: String(times) })
  return what ?? lost
}

/** The Lease says no longer that there were more. @returns what it said, in words @throws {LedgerError} */
async function acceptWrites(cluster: Cluster): Promise<string | undefined> {
  const { api, leases, name, records, selector } = cluster
  try {
    const before = await readLease(cluster)
    // After the Lease: what is written between the two is no loss.
    const { items } = await api.list(records, selector)
    const writes = writesOf(items.filter((object) => isRecordOf(name, object)).map(keptOf))
    const lost = lostOf(writesIn(before), writes)
    if (lost === undefined) return undefined
    for (let tries = 1; ; tries += 1) {
      // Whoever holds it has renewed it meanwhile, and says how many there are when it is renewed next.
      const lease = await readLease(cluster)
      if (lease === undefined) return lost
      try {
        await api.replace(`${leases}/${name}`, withWrites(lease, writes))
        return lost
      } catch (error) {
        if (!(error instanceof ClusterError) || error.status !== 409 || tries === TRIES) throw error
      }
    }
  } catch (error) {
    throw asLedgerError(error)
  }
}

function withWrites(lease: KubeObject, writes: number): KubeObject {
  const { annotations } = lease.metadata
  const next = { ...(isObject(annotations) && annotations), [WRITES_ANNOTATION]: String(writes) }
  return { ...lease, metadata: { ...lease.metadata, annotations: next } }
}
