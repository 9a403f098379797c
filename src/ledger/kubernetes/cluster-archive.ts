import type { Key } from '../../kinds/key.ts'
import { LedgerError } from '../../contract/ledger.ts'
import type { Archive } from '../archive.ts'
import { decodeRecord, type StoredRecord } from '../codec.ts'
import { openCluster, type Cluster, type ClusterPlace } from './cluster.ts'
import { ClusterError, asLedgerError } from './cluster-error.ts'
import type { ClusterApi } from './cluster-api.ts'
import { createLedgerSecret, readLedgerSecret } from './ledger-secret.ts'
import { bodyOf, keptOf, objectName, objectOf, withLines, type Kept, type Line } from './record-object.ts'

/** So many objects are written at a time. */
const AT_ONCE = 16

/** All that a ledger in a cluster holds, at one moment. @throws {LedgerError} */
export async function readClusterArchive(options: ClusterPlace): Promise<Archive> {
  await using cluster = await openCluster(options)
  const { api, name, records, secrets, selector, shown } = cluster
  try {
    const secret = await readLedgerSecret(api, secrets, name)
    if (secret === undefined) throw new LedgerError('missing', `there is no ledger ${shown}.`)
    const objects = (await api.list(records, selector)).items.map(keptOf)
    const byKey = new Map(objects.map((kept) => [kept.key, kept]))
    const { hashKey } = secret
    return {
      hashKey,
      platform: secret.platform(),
      profile: secret.profile(),
      usedVersion: Math.max(0, ...objects.map(({ body, version }) => (body === undefined ? version : 0))),
      records: objects
        .flatMap((kept) =>
          storedOf(
            kept,
            bodyOf(kept, (key) => byKey.get(key)),
          ),
        )
        .toSorted((a, b) => (a.key < b.key ? -1 : 1)),
      history: objects
        .flatMap(({ key, history }) => history.map((line) => ({ ...line, key })))
        .toSorted((a, b) => a.seq - b.seq)
        .map(({ key, body }) => ({ key, body })),
    }
  } catch (error) {
    throw asLedgerError(error)
  }
}

function storedOf({ key }: Kept, body: string | undefined): readonly StoredRecord[] {
  if (body === undefined) return []
  const { version } = JSON.parse(body) as StoredRecord // every record says it
  return [{ key, version, body }]
}

/**
 * Makes a ledger of what another one held; there must be none of that name. Its Secret comes last, so that what was interrupted is no
 * ledger; it can be begun again.
 * @throws {LedgerError}
 */
export async function writeClusterArchive(archive: Archive, options: ClusterPlace): Promise<void> {
  await using cluster = await openCluster(options)
  const { api, name, records, secrets, shown } = cluster
  const there = await readLedgerSecret(api, secrets, name)
  if (there !== undefined)
    throw new LedgerError('io', `there is a ledger ${shown}: an import goes where there is none.`)
  const left = objectsOf(archive)
  await assertOnlyThese(cluster, left)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let kept = left.pop(); kept !== undefined; kept = left.pop()) await put(api, records, name, kept)
    }),
  ).catch((error: unknown) => {
    throw asLedgerError(error)
  })
  const { hashKey, platform, profile } = archive
  const hasRecords = archive.records.length > 0 ? 'true' : undefined
  await createLedgerSecret(api, secrets, name, { hashKey, platform, profile, hasRecords })
}

/** What an import of another file has left would be mixed with this one. @throws {LedgerError} */
async function assertOnlyThese(
  { api, name, records, selector, shown }: Cluster,
  left: readonly Kept[],
): Promise<void> {
  const names = new Set(left.map(({ key }) => objectName(name, key)))
  const { items } = await api.list(records, selector).catch((error: unknown) => {
    throw asLedgerError(error)
  })
  const other = items.find(({ metadata }) => !names.has(metadata.name))
  if (other !== undefined) throw notEmpty(name, `${shown} has the record ${other.metadata.name} already`)
}

function notEmpty(name: string, what: string, options?: ErrorOptions): LedgerError {
  return new LedgerError(
    'io',
    `${what}: an import goes where there is none. Delete what is there, if it is of no use: ` +
      `kubectl delete pipewrightrecords -l pipewright.dev/ledger=${name}`,
    options,
  )
}

/** The objects that hold it all: a key that has only a history was forgotten. */
function objectsOf({ records, history, usedVersion }: Archive): Kept[] {
  const lines = new Map<string, readonly Line[]>()
  for (const [index, { key, body }] of history.entries())
    lines.set(key, withLines(lines.get(key) ?? [], [{ seq: index + 1, body }]))
  const blank = { movedFrom: undefined, before: undefined, movedTo: undefined }
  const objects = records.map(({ key, version, body }): Kept => ({
    ...blank,
    key,
    version,
    body,
    history: lines.get(key) ?? [],
  }))
  for (const { key } of records) lines.delete(key)
  for (const [key, left] of lines)
    objects.push({
      ...blank,
      key: key as Key, // the archive was looked at
      version: Math.max(1, usedVersion),
      body: undefined,
      history: left,
    })
  return objects
}

async function put(api: ClusterApi, path: string, name: string, kept: Kept): Promise<void> {
  const { key, version, body } = kept
  const record = body === undefined ? undefined : decodeRecord({ key, version, body })
  try {
    await api.create(path, objectOf(name, kept, record, undefined))
  } catch (error) {
    if (!(error instanceof ClusterError) || error.status !== 409) throw error
    // From an import that was interrupted.
    const found = keptOf(await api.get(`${path}/${objectName(name, key)}`))
    if (found.body === body && found.version === version) return
    throw notEmpty(name, `there is another record of ${key} already`, { cause: error })
  }
}
