import { randomUUID } from 'node:crypto'
import { type Ledger, LedgerError, type OpenedLedger } from '../contract/ledger.ts'
import type { Clock } from '../lib/clock.ts'
import type { Archive } from './archive.ts'
import type { Acceptance } from './kubernetes/accept-set-back.ts'
import type { ClusterPlace } from './kubernetes/cluster.ts'
import { openMemoryLedger } from './memory-backend.ts'
import {
  moveSqlite,
  openSqlite,
  readSqliteArchive,
  type SqliteLedgerOptions,
  unbindSqlite,
  writeSqliteArchive,
} from './sqlite-ledger.ts'

export interface OpenOptions extends Omit<SqliteLedgerOptions, 'file'> {
  /** In a cluster: a Lease that nobody renewed for so long is taken over: ms. 15 s when absent. */
  readonly leaseMs?: number | undefined
  /** In a cluster: a request of this process may arrive so long after it was sent: ms. */
  readonly requestTimeoutMs?: number | undefined
}

/**
 * Opens the ledger that `--ledger` names: `sqlite:PATH`, `kubernetes:[NAMESPACE/]NAME` or `memory:`.
 * @throws {LedgerError} also when the text names no backend that there is
 */
export async function openLedger(url: string, options: OpenOptions): Promise<Ledger> {
  return (await openLedgerToAct(url, options)).ledger
}

/** As {@link openLedger}, with who acts. @throws {LedgerError} */
export async function openLedgerToAct(url: string, options: OpenOptions): Promise<OpenedLedger> {
  if (url === 'memory:') return openMemoryLedger({ emit: options.emit })
  const inCluster = placeInCluster(url, options.clock)
  if (inCluster === undefined) return openSqlite({ ...options, file: fileOf(url) })
  const { openKubernetesLedger } = await import('./kubernetes/open-kubernetes-ledger.ts')
  return openKubernetesLedger({ processId: randomUUID(), ...options, ...inCluster })
}

const KUBERNETES = 'kubernetes:'

/** What works with one in a cluster is loaded only where it is used. @returns undefined: it is in a file */
function placeInCluster(url: string, clock: Clock): ClusterPlace | undefined {
  if (!url.startsWith(KUBERNETES)) return undefined
  return { env: process.env, place: url.slice(KUBERNETES.length), clock }
}

/**
 * Ends the binding of a ledger to the platform it was used with, which has moved; the next owner binds it to its own.
 * @returns what it was bound to
 * @throws {LedgerError}
 */
export async function unbindLedger(
  url: string,
  options: Pick<SqliteLedgerOptions, 'clock' | 'emit'>,
): Promise<string | undefined> {
  if (url === 'memory:') return undefined
  const inCluster = placeInCluster(url, options.clock)
  if (inCluster === undefined) return unbindSqlite(fileOf(url), options)
  const { unbindKubernetesLedger } = await import('./kubernetes/open-kubernetes-ledger.ts')
  return unbindKubernetesLedger(inCluster)
}

/**
 * A person accepts the records as they are, after they were put back to an earlier state.
 * @param how `force`: also while they lack pipes
 * @throws {LedgerError} also for a ledger in a file, of which nobody notices that
 */
export async function acceptLedger(
  url: string,
  options: Pick<OpenOptions, 'clock'>,
  how: 'force' | 'complete',
): Promise<Acceptance> {
  const inCluster = placeInCluster(url, options.clock)
  if (inCluster === undefined)
    throw new LedgerError(
      'io',
      `there is nothing to accept: ${fileOf(url)} is a file, and only of a ledger in a cluster does anybody notice that it was put back to an ` +
        'earlier state. What to do then with a file: "A backup is to be put back" in docs/runbook.md.',
    )
  const { acceptKubernetesLedger } = await import('./kubernetes/accept-set-back.ts')
  return acceptKubernetesLedger(inCluster, how)
}

function fileOf(url: string): string {
  const file = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ''
  // sqlite://ledger.db would be a file in the root folder, which nobody means
  if (file === '' || file.startsWith(':') || /^\/\/[^/]/.test(file) || file.includes('\0')) {
    throw new LedgerError(
      'io',
      `there is no ledger of the kind "${url}": give sqlite:PATH, such as sqlite:.pipewright/ledger.db or ` +
        'sqlite:/var/lib/pipewright/ledger.db; or kubernetes:NAME for one in the cluster; or memory: for one that ends with the process',
    )
  }
  return file
}

/** All that a ledger holds. @throws {LedgerError} */
export async function exportLedger(
  url: string,
  options: Pick<OpenOptions, 'clock' | 'emit'>,
): Promise<Archive> {
  const inCluster = placeInCluster(url, options.clock)
  if (inCluster === undefined) return readSqliteArchive({ ...options, file: fileOf(url) })
  const { readClusterArchive } = await import('./kubernetes/cluster-archive.ts')
  return readClusterArchive(inCluster)
}

/**
 * As {@link exportLedger}, of a ledger that goes on elsewhere: nothing acts with it any more.
 * @param save is to make it durable; when it throws, nothing is marked
 * @throws {LedgerError} also while a process acts with it
 */
export async function moveLedger(
  url: string,
  save: (archive: Archive) => void,
  options: Pick<OpenOptions, 'clock' | 'emit'> & { readonly signal: AbortSignal },
): Promise<void> {
  const inCluster = placeInCluster(url, options.clock)
  if (inCluster === undefined) return moveSqlite({ ...options, file: fileOf(url) }, save)
  const { moveCluster } = await import('./kubernetes/cluster-archive.ts')
  return moveCluster({ ...inCluster, emit: options.emit }, save, options.signal)
}

/**
 * Makes a ledger of what another one held; there must be none of that name.
 * @returns what it is known to lack, in words: nothing is created until a person accepts that
 * @throws {LedgerError}
 */
export async function importLedger(
  url: string,
  archive: Archive,
  options: Pick<OpenOptions, 'clock' | 'emit'>,
): Promise<string | undefined> {
  const inCluster = placeInCluster(url, options.clock)
  if (inCluster === undefined) {
    await writeSqliteArchive(fileOf(url), archive, options.clock.now())
    return undefined
  }
  const { writeClusterArchive } = await import('./kubernetes/cluster-archive.ts')
  return writeClusterArchive(archive, inCluster)
}
