import { isObject } from '../../lib/json.ts'
import { LedgerError, type MissingPipe } from '../../contract/ledger.ts'
import { openCluster, type Cluster, type ClusterPlace } from './cluster.ts'
import type { KubeObject } from './cluster-api.ts'
import { ClusterError, asLedgerError } from './cluster-error.ts'
import { WRITES_ANNOTATION } from './lease-object.ts'
import { lossesIn, openSetBack, readLedgerSecret } from './ledger-secret.ts'
import { missingIn } from './losses.ts'
import { isRecordOf, keptOf } from './record-object.ts'
import { lostOf, readLease, writesIn, writesOf } from './written.ts'

const TRIES = 20

/** What came of it when a person accepts the records as they are. */
export interface Acceptance {
  /** What was lost, in words; undefined: nothing was, as far as anybody noticed. */
  readonly what: string | undefined
  /** Pipes that the records lack, and that are created a second time. In the order of their keys. */
  readonly missing: readonly MissingPipe[]
  readonly isAccepted: boolean
}

/**
 * A person accepts the records as they are, after they were put back to an earlier state.
 * @param how `force`: also while they lack pipes
 * @throws {LedgerError}
 */
export async function acceptKubernetesLedger(
  options: ClusterPlace,
  how: 'force' | 'complete',
): Promise<Acceptance> {
  await using cluster = await openCluster(options)
  const { api, records, selector, name, secrets, shown } = cluster
  const secret = await readLedgerSecret(api, secrets, name)
  if (secret === undefined) throw new LedgerError('missing', `there is no ledger ${shown}.`)
  const { times, lost } = secret.setBack()
  const what = openSetBack(secret)
  const losses = lossesIn(secret)
  const { items } = await listed(() => api.list(records, selector))
  const missing = missingIn(losses, items.filter((object) => isRecordOf(name, object)).map(keptOf))
  if (missing.length > 0 && how !== 'force') return { what, missing, isAccepted: false }
  const before = await acceptWrites(cluster)
  if (what !== undefined)
    await secret.change(() => {
      if (secret.setBack().lost !== lost)
        throw new LedgerError('io', 'more was noticed to be lost at this moment: run it again.')
      return { setBacks: String(times), accepted: String(times), lost: undefined }
    })
  return { what: what ?? before, missing, isAccepted: true }
}

async function listed<T>(list: () => Promise<T>): Promise<T> {
  try {
    return await list()
  } catch (error) {
    throw asLedgerError(error)
  }
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
