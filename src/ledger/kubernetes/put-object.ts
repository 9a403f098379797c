import type { Key } from '../../kinds/key.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { LedgerConflict, LedgerError } from '../../contract/ledger.ts'
import { ClusterError } from './cluster-error.ts'
import type { ClusterApi, KubeObject } from './cluster-api.ts'
import { objectName, objectOf, type Kept } from './record-object.ts'
import type { Mirror, Mirrored } from './record-mirror.ts'

export function createPut(parts: {
  readonly api: ClusterApi
  readonly path: string
  readonly name: string
  readonly mirror: Mirror
}) {
  const { api, path, name, mirror } = parts

  /** Also reads the key that a record moved to. Otherwise, the moved record would seem missing. */
  async function refresh(key: Key, seen: readonly Key[] = []): Promise<void> {
    await mirror.refresh(key)
    const to = mirror.get(key)?.kept.movedTo?.key
    if (to !== undefined && !seen.includes(to)) await refresh(to, [...seen, key])
  }

  /** @param over undefined: creates @throws {LedgerConflict} the mirror then has the write of another process */
  return async (over: Mirrored | undefined, kept: Kept, record: LedgerRecord | undefined): Promise<void> => {
    const { key } = kept
    try {
      await mirror.writing(key, async (): Promise<KubeObject> => {
        const now = mirror.get(key)
        if (now?.resourceVersion !== over?.resourceVersion)
          throw new LedgerConflict(key, over?.kept.version ?? 0)
        const object = objectOf(name, kept, record, over?.resourceVersion)
        return over === undefined
          ? api.create(path, object)
          : api.replace(`${path}/${objectName(name, key)}`, object)
      })
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error
      // 409: another process wrote the object. 404: it is gone.
      const isOlder = error.status === 409 || (error.status === 404 && over !== undefined)
      if (!isOlder)
        throw new LedgerError('io', `the ledger cannot be written: ${error.message}`, { cause: error })
      await readAnew(() => refresh(key))
      throw new LedgerConflict(key, over?.kept.version ?? 0)
    }
  }
}

export async function readAnew(read: () => Promise<void>): Promise<void> {
  try {
    await read()
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error
    throw new LedgerError('io', `the ledger cannot be read: ${error.message}`, { cause: error })
  }
}
