import { DEFAULT } from '../../../src/kinds/profiles/default/profile.ts'
import { catalogOfTexts } from '../../../src/manifest/source.ts'
import type { Catalog } from '../../../src/contract/catalog.ts'

export interface Measured {
  readonly bytes: number
  /** CPU of this thread, ms. */
  readonly cpuMs: number
  readonly catalog: Catalog
}

/** Reads a catalog from memory, by the rules of a directory. */
export async function measure(files: ReadonlyMap<string, string | Buffer>): Promise<Measured> {
  const given = [...files].map(([file, text]) => [file, text.toString()] as const)
  const before = process.threadCpuUsage()
  const catalog = await catalogOfTexts(
    { revision: { id: 'hostile', from: 'content' }, files: Object.fromEntries(given) },
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
    bytes: given.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0),
    cpuMs: (user + system) / 1_000,
    catalog,
  }
}
