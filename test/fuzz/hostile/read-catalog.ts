import { DEFAULT } from '../../../src/kinds/profiles/default/profile.ts'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorded } from '../../../src/contract/catalog.ts'
import type { Key } from '../../../src/kinds/key.ts'
import { pictureOf } from '../../../src/manifest/diagnostics/diagnostic.ts'
import { createSource, type LoadResult, type Source } from '../../../src/manifest/source.ts'
import { temporaryFolder } from '../../manifest/support.ts'
import type { Files } from './text.ts'

/** CPU of the process for readings of one catalog, up to the pictures of their findings, ms for each byte. */
export interface Readings {
  readonly first: number
  /** One more, after a line was added. */
  readonly again: number
  /** Findings without a place or a word. */
  readonly nowhere: readonly string[]
}

/** Reads a catalog from a directory as the daemon does, then once more after one file of it changed. */
export async function readCatalog(files: Files): Promise<Readings> {
  using folder = temporaryFolder()
  for (const [file, text] of files) folder.write(file, text)
  const source = createSource({ profile: DEFAULT, root: folder.path })
  const first = await timed(source, new Map())
  appendFileSync(join(folder.path, [...files.keys()][files.size >> 1] ?? ''), '\n# one more line\n')
  const again = await timed(source, recordedIn(first.result))
  const bytes = files.values().reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return {
    first: first.cpuMs / bytes,
    again: again.cpuMs / bytes,
    nowhere: [...first.nowhere, ...again.nowhere],
  }
}

async function timed(source: Source, recorded: ReadonlyMap<Key, Recorded>) {
  const before = process.cpuUsage()
  const result = await source.load(recorded, { accept: 'normal' }, new AbortController().signal)
  const { findings } = result.state.catalog
  const nowhere = findings.filter((finding) => {
    const { file, line, column, endColumn, message, hint } = finding
    const isSaid = message !== '' && hint !== '' && pictureOf(finding).startsWith(`${file}:${line}:${column}`)
    return !isSaid || line < 1 || column < 1 || endColumn <= column
  })
  const { user, system } = process.cpuUsage(before)
  return {
    result,
    nowhere: nowhere.map((finding) => JSON.stringify(finding)),
    cpuMs: (user + system) / 1_000,
  }
}

/** As if everything that is valid had been created. */
function recordedIn({ state }: LoadResult): ReadonlyMap<Key, Recorded> {
  const valid = [...state.catalog.entries].filter(([, entry]) => entry.state === 'valid')
  return new Map(
    valid.map(([key, { position, digest }], n) => [
      key,
      {
        file: position.file,
        digest,
        pipeId: n % 2 === 0 ? `id-${n}` : undefined,
        validIn: position.file,
        isAwaiting: false,
        endpointOf: undefined,
      },
    ]),
  )
}
