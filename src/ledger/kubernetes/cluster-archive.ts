import { randomUUID } from 'node:crypto'
import type { Key } from '../../kinds/key.ts'
import type { Emit } from '../../contract/events.ts'
import { LedgerError } from '../../contract/ledger.ts'
import type { Archive } from '../archive.ts'
import { decodeRecord } from '../codec.ts'
import { isThere } from '../binding.ts'
import { openCluster, type Cluster, type ClusterPlace } from './cluster.ts'
import { ClusterError, asLedgerError, throwAsLedgerError } from './cluster-error.ts'
import { readLease, writesIn } from './lease-object.ts'
import { writesOf, writesRollback } from './ledger-rollback.ts'
import { createLedgerSecret, readLedgerSecret, secretOf } from './ledger-secret.ts'
import { openKubernetesLedger } from './open-kubernetes-ledger.ts'
import {
  ignoredWords,
  isRecordOf,
  keptOf,
  objectName,
  objectOf,
  storedOf,
  withLines,
  type Kept,
  type KeptLine,
} from './record-object.ts'

const AT_ONCE = 16

export async function readClusterArchive(options: ClusterPlace): Promise<Archive> {
  await using cluster = await openCluster(options)
  return await archiveOf(cluster) // awaited before `cluster` is closed
}

/** A repeated move needs the Lease, too: a leader might not know the mark. @param signal ends the wait for it */
export async function moveCluster(
  options: ClusterPlace & { readonly emit: Emit },
  save: (archive: Archive) => void,
  signal: AbortSignal,
): Promise<void> {
  await using cluster = await openCluster(options)
  const secret = await secretOf(cluster)
  const { ledger, leadership } = await openKubernetesLedger({
    ...options,
    mode: 'owner',
    evenMoved: true,
    init: 'never',
    processId: randomUUID(),
  })
  await using stack = new AsyncDisposableStack()
  stack.use(ledger)
  const term = await leadership.acquire(signal, 'refuse')
  stack.defer(() => term.release())
  // Throws after a rollback that no operator accepted, because a ledger in a file cannot store a rollback.
  await ledger.assertCanSettle()
  const isMarked = (await secret.read('movedAt')) !== undefined
  try {
    if (!isMarked) await secret.change({ movedAt: new Date(options.clock.now()).toISOString() })
    // A leader that took over before the mark does not know it.
    await term.confirm().catch(throwAsNotLeading)
    save(await archiveOf(cluster))
  } catch (error) {
    if (!isMarked) await secret.change({ movedAt: undefined }).catch(throwAsMarked)
    throw error
  }
}

function throwAsMarked(cause: unknown): never {
  const why = 'the ledger was not exported, and might count as moved. Repeat the command until it succeeds.'
  throw new LedgerError('io', why, { cause })
}

function throwAsNotLeading(cause: unknown): never {
  const why = 'another process might have become the leader meanwhile, so the ledger was not moved'
  throw new LedgerError('io', `${why}. Stop all pods that use it, then repeat the command.`, { cause })
}

async function archiveOf(cluster: Cluster): Promise<Archive> {
  const { api, name, records } = cluster
  const secret = await secretOf(cluster)
  try {
    const { items } = await api.list(records)
    const objects = items.filter((object) => isRecordOf(name, object)).map(keptOf)
    const byKey = new Map(objects.map((kept) => [kept.key, kept]))
    const recorded = (kept: Kept) => storedOf(kept, (key) => byKey.get(key))
    const forgotten = objects
      .filter((kept) => recorded(kept) === undefined)
      .map(({ key, version }) => ({ key, version }))
    return {
      hashKey: secret.hashKey,
      platform: secret.platform(),
      profile: secret.profile(),
      usedVersion: Math.max(0, ...forgotten.map(({ version }) => version)),
      forgotten: forgotten.toSorted(inOrder),
      rollback: secret.rollback(),
      records: objects.flatMap((kept) => recorded(kept) ?? []).toSorted(inOrder),
      history: objects
        .flatMap(({ key, history }) => history.map((line) => ({ ...line, key })))
        .toSorted((a, b) => a.seq - b.seq)
        .map(({ key, body }) => ({ key, body })),
    }
  } catch (error) {
    throw asLedgerError(error)
  }
}

function inOrder(one: { readonly key: string }, other: { readonly key: string }): number {
  return one.key < other.key ? -1 : 1
}

/**
 * The ledger must not exist. Writes the Secret last, so an interrupted import can be repeated. If the Lease of an
 * earlier ledger counts more writes than the archive has, the archive is a rollback.
 * @returns description of a rollback that an operator must accept, if any
 */
export async function writeClusterArchive(
  archive: Archive,
  options: ClusterPlace,
): Promise<string | undefined> {
  await using cluster = await openCluster(options)
  const there = await readLedgerSecret(cluster)
  if (there !== undefined) {
    const remains = `if no process uses it, delete its remains: ${deletion(cluster)}; ${cluster.toDelete} secret,lease ${cluster.name}`
    throw isThere(cluster.shown, there.movedAt(), remains)
  }
  const left = objectsOf(archive)
  const writes = writesOf(left)
  await assertOnlyThese(cluster, left)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let kept = left.pop(); kept !== undefined; kept = left.pop()) await put(cluster, kept)
    }),
  ).catch(throwAsLedgerError)
  const { hashKey, platform, profile } = archive
  const hasRecords = archive.records.length > 0 ? 'true' : undefined
  const setBack = archive.rollback ?? writesRollback(writesIn(await readLease(cluster)), writes)
  const setBacks = setBack === undefined ? undefined : '1'
  await createLedgerSecret(cluster, { hashKey, platform, profile, hasRecords, setBack, setBacks })
  return setBack
}

/** Refuses to import beside other records, which another import might have left. */
async function assertOnlyThese(cluster: Cluster, left: readonly Kept[]): Promise<void> {
  const { api, name, records, shown } = cluster
  const names = new Set(left.map(({ key }) => objectName(name, key)))
  const { items } = await api.list(records).catch(throwAsLedgerError)
  const other = items.find((object) => isRecordOf(name, object) && !names.has(object.metadata.name))
  if (other !== undefined) throw notEmpty(cluster, `${shown} already has the record ${other.metadata.name}`)
}

function notEmpty(cluster: Cluster, what: string, options?: ErrorOptions): LedgerError {
  const why = `${what}: an import needs an empty ledger. If no process uses or needs these records, delete them`
  return new LedgerError('io', `${why}: ${deletion(cluster)}`, options)
}

function deletion({ toDelete, name }: Cluster): string {
  return `${toDelete} pipewrightrecords -l pipewright.dev/ledger=${name}`
}

/** Makes objects for removed records, too, because these keep their history and versions. */
function objectsOf({ records, forgotten, history, usedVersion }: Archive): Kept[] {
  const lines = new Map<string, readonly KeptLine[]>()
  for (const [index, { key, body }] of history.entries())
    lines.set(key, withLines(lines.get(key) ?? [], [{ seq: index + 1, body }]))
  const objects = new Map<string, { readonly version: number; readonly body: string | undefined }>()
  for (const { key, version } of forgotten) objects.set(key, { version, body: undefined })
  for (const { key, version, body } of records) objects.set(key, { version, body })
  // An archive of a file has only the highest version of all removed records. Only one object gets that version,
  // because the sum of versions must not exceed the number of writes.
  let version = forgotten.length === 0 ? usedVersion : 1
  for (const key of lines.keys()) {
    if (objects.has(key)) continue
    objects.set(key, { version: Math.max(1, version), body: undefined })
    version = 1
  }
  return [...objects].map(([key, object]): Kept => ({
    movedFrom: undefined,
    before: undefined,
    movedTo: undefined,
    key: key as Key, // checked on reading the archive
    ...object,
    history: lines.get(key) ?? [],
  }))
}

async function put(cluster: Cluster, kept: Kept): Promise<void> {
  const { api, name, records } = cluster
  const { key, version, body } = kept
  const record = body === undefined ? undefined : decodeRecord({ key, version, body })
  try {
    await api.create(records, objectOf(name, kept, record, undefined))
  } catch (error) {
    if (!(error instanceof ClusterError) || error.status !== 409) throw error
    const found = await api.get(`${records}/${objectName(name, key)}`)
    if (!isRecordOf(name, found)) throw new LedgerError('io', ignoredWords(name, found), { cause: error })
    const there = keptOf(found)
    if (there.body === body && there.version === version) return
    throw notEmpty(cluster, `there is another record of ${key} already`, { cause: error })
  }
}
