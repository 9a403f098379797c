import { isObject } from '../../lib/json.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { openCluster, type Cluster, type ClusterPlace } from './cluster.ts'
import { ClusterError, throwAsLedgerError } from './cluster-error.ts'
import { readLease, WRITES_ANNOTATION, writesIn } from './lease-object.ts'
import { writesOf, writesRollback } from './ledger-rollback.ts'
import { secretOf } from './cluster-archive.ts'
import { isRecordOf, keptOf } from './record-object.ts'

const TRIES = 20

/** @returns description of the accepted rollback. Undefined: none was detected */
export async function acceptKubernetesLedger(options: ClusterPlace): Promise<string | undefined> {
  await using cluster = await openCluster(options)
  const secret = await secretOf(cluster)
  const [what, times] = [secret.rollback(), secret.rollbacks()]
  if (what !== undefined)
    await secret.change(() => {
      if (secret.rollbacks() !== times)
        throw new LedgerError(
          'io',
          'another rollback was detected meanwhile. Compare the ledger with the platform again, and repeat the command.',
        )
      return { setBacks: String(times), accepted: String(times), lost: undefined }
    })
  // Comes last, because it hides the rollback. If the change above fails, the rollback must still be detected.
  const ofWrites = await acceptWrites(cluster).catch(throwAsLedgerError)
  return what ?? ofWrites
}

/** Lowers the Lease's count of writes to the number found in the records. */
async function acceptWrites(cluster: Cluster): Promise<string | undefined> {
  const { api, leases, name, records, selector } = cluster
  const before = writesIn(await readLease(cluster))
  // Listed after the Lease was read, because a write in between must not count as lost.
  const { items } = await api.list(records, selector)
  const writes = writesOf(items.filter((object) => isRecordOf(name, object)).map(keptOf))
  const what = writesRollback(before, writes)
  if (what === undefined) return undefined
  for (let tries = 1; ; tries += 1) {
    const lease = await readLease(cluster)
    if (lease === undefined) return what
    const { annotations } = lease.metadata
    const next = { ...(isObject(annotations) && annotations), [WRITES_ANNOTATION]: String(writes) }
    try {
      await api.replace(`${leases}/${name}`, {
        ...lease,
        metadata: { ...lease.metadata, annotations: next },
      })
      return what
    } catch (error) {
      // Status 409: the leader renewed the Lease meanwhile.
      if (!(error instanceof ClusterError) || error.status !== 409 || tries === TRIES) throw error
    }
  }
}
