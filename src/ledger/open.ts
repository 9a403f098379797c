import { randomUUID } from 'node:crypto'
import { LedgerError, type OpenedLedger } from '../contract/ledger.ts'
import type { Clock } from '../lib/clock.ts'
import type { Archive } from './archive.ts'
import type { ClusterPlace } from './kubernetes/cluster.ts'
import type { KubernetesLedgerOptions } from './kubernetes/open-kubernetes-ledger.ts'
import { takeLease } from './lease.ts'
import { createLedgerFile, ledgerExists, makeFolderOf, realFile } from './location.ts'
import { isThere } from './binding.ts'
import {
  openMemoryLedger,
  openSqlite,
  openToRead,
  openToWrite,
  type SqliteLedgerOptions,
} from './open-sqlite-ledger.ts'
import type { Tables } from './tables.ts'

type OpenOptions = Omit<SqliteLedgerOptions, 'file'> &
  Pick<KubernetesLedgerOptions, 'leaseMs' | 'requestTimeoutMs'>

/** Opens `sqlite:PATH`, `kubernetes:[NAMESPACE/]NAME` or `memory:`. */
export async function openLedger(url: string, options: OpenOptions): Promise<OpenedLedger> {
  if (url === 'memory:') return openMemoryLedger({ emit: options.emit })
  const inCluster = placeInCluster(url, options.clock)
  if (inCluster === undefined) return openSqlite({ ...options, file: fileOf(url) })
  const { openKubernetesLedger } = await import('./kubernetes/open-kubernetes-ledger.ts')
  return openKubernetesLedger({ processId: randomUUID(), ...options, ...inCluster })
}

const KUBERNETES = 'kubernetes:'

function placeInCluster(url: string, clock: Clock): ClusterPlace | undefined {
  if (!url.startsWith(KUBERNETES)) return undefined
  return { env: process.env, place: url.slice(KUBERNETES.length), clock }
}

/** Removes the stored address of the platform. The next process that writes stores its own. */
export async function unbindLedger(
  url: string,
  options: Pick<OpenOptions, 'clock'>,
): Promise<string | undefined> {
  if (url === 'memory:') return undefined
  const inCluster = placeInCluster(url, options.clock)
  if (inCluster === undefined) return unbindSqlite({ ...options, file: fileOf(url) })
  const { unbindKubernetesLedger } = await import('./kubernetes/open-kubernetes-ledger.ts')
  return unbindKubernetesLedger(inCluster)
}

/** Allows creates again. @returns description of the rollback, if any @throws {LedgerError} for a file */
export async function acceptLedger(
  url: string,
  options: Pick<OpenOptions, 'clock'>,
): Promise<string | undefined> {
  const inCluster = placeInCluster(url, options.clock)
  if (inCluster === undefined)
    throw new LedgerError(
      'io',
      `there is nothing to accept: ${fileOf(url)} is a file. Pipewright detects rollbacks only in a cluster. ` +
        'For a restored file, see "Restore a backup" in docs/reference/runbook.md.',
    )
  const { acceptKubernetesLedger } = await import('./kubernetes/ledger-rollback.ts')
  return acceptKubernetesLedger(inCluster)
}

function fileOf(url: string): string {
  const file = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ''
  // Refuses sqlite://ledger.db, which would mean a file in the root folder.
  if (file === '' || file.startsWith(':') || /^\/\/[^/]/.test(file) || file.includes('\0')) {
    throw new LedgerError(
      'io',
      `"${url}" is not the address of a ledger. Use sqlite:PATH, such as sqlite:.pipewright/ledger.db or ` +
        'sqlite:/var/lib/pipewright/ledger.db; kubernetes:NAME for a ledger in the cluster; or memory: for a ledger that ends with the process',
    )
  }
  return file
}

export async function exportLedger(url: string, options: Pick<OpenOptions, 'clock'>): Promise<Archive> {
  const inCluster = placeInCluster(url, options.clock)
  if (inCluster === undefined) return readSqliteArchive({ ...options, file: fileOf(url) })
  const { readClusterArchive } = await import('./kubernetes/cluster-archive.ts')
  return readClusterArchive(inCluster)
}

/** @param save makes the export durable; if it throws, the ledger is not marked as moved */
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

/** The ledger must not exist. @returns description of a rollback that an operator must accept, if any */
export async function importLedger(
  url: string,
  archive: Archive,
  options: Pick<OpenOptions, 'clock'>,
): Promise<string | undefined> {
  const inCluster = placeInCluster(url, options.clock)
  if (inCluster === undefined) {
    await writeSqliteArchive({ ...options, file: fileOf(url) }, archive)
    return undefined
  }
  const { writeClusterArchive } = await import('./kubernetes/cluster-archive.ts')
  return writeClusterArchive(archive, inCluster)
}

type Place = Pick<SqliteLedgerOptions, 'file' | 'clock'>

async function unbindSqlite(options: Place): Promise<string | undefined> {
  await using stack = new AsyncDisposableStack()
  const store = stack.use(openToWrite({ ...options, init: 'never' }, stack))
  return store.write((tables) => {
    const platform = tables.text('platform')
    tables.set('platform', undefined)
    return platform
  }, 'free')
}

async function readSqliteArchive(options: Place): Promise<Archive> {
  await using store = openToRead(options)
  return store.read((tables) => archiveOf(tables, store.hashKey))
}

function archiveOf(tables: Tables, hashKey: Uint8Array): Archive {
  return {
    hashKey,
    platform: tables.text('platform'),
    profile: tables.text('profile'),
    usedVersion: tables.count('used_version'),
    forgotten: [],
    rollback: undefined,
    records: tables.all(),
    history: tables.history(undefined, Number.MAX_SAFE_INTEGER).toReversed(),
  }
}

/** A ledger that was moved before is only exported again. */
async function moveSqlite(options: Place, save: (archive: Archive) => void): Promise<void> {
  await using stack = new AsyncDisposableStack()
  try {
    const store = stack.use(openToWrite({ ...options, init: 'never' }, stack))
    // One transaction, because a write between the export and the mark would be lost.
    store.write((tables) => {
      save(archiveOf(tables, store.hashKey))
      store.markMoved(new Date(options.clock.now()).toISOString())
    }, 'free')
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== 'moved') throw error
    save(await readSqliteArchive(options))
  }
}

/** Imports all records or none. */
async function writeSqliteArchive({ file, clock }: Place, archive: Archive): Promise<void> {
  if (archive.rollback !== undefined)
    throw new LedgerError(
      'corrupt',
      `the exported ledger was rolled back to an earlier state: ${archive.rollback}. No record was imported. Compare that ledger with ` +
        'the platform, adopt the existing pipes with "pipewright adopt", run "pipewright ledger accept", and export it again.',
    )
  makeFolderOf(file)
  const place = realFile(file)
  using _ = takeLease(place, clock.now())
  if (ledgerExists(place)) {
    await using store = openToRead({ file: place, clock })
    throw isThere(`at ${file}`, store.movedAt(), 'use another file name')
  }
  createLedgerFile(place, archive)
}
