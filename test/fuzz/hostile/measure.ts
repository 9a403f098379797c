import { DEFAULT } from '../../../src/kinds/profiles/default/profile.ts'
import { catalogOfTree } from '../../../src/manifest/tree-catalog.ts'
import type { Catalog } from '../../../src/contract/catalog.ts'

/** What reading a catalog took. */
export interface Measured {
  readonly bytes: number
  /** CPU of this thread, ms. */
  readonly cpuMs: number
  readonly catalog: Catalog
}

/** Reads a catalog from memory, by the rules of a directory. */
export async function measure(files: ReadonlyMap<string, string | Buffer>): Promise<Measured> {
  const given = [...files].map(([file, text]) => ({ file, bytes: Buffer.from(text) }))
  const before = process.threadCpuUsage()
  const catalog = await catalogOfTree(
    { revision: { id: 'hostile', from: 'content' }, findings: [], unread: [], files: given },
    {
      profile: DEFAULT,
      recorded: new Map(),
      before: undefined,
      created: new Set(),
      signal: new AbortController().signal,
    },
  )
  const { user, system } = process.threadCpuUsage(before)
  return {
    bytes: given.reduce((sum, { bytes }) => sum + bytes.length, 0),
    cpuMs: (user + system) / 1_000,
    catalog,
  }
}
