import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { appendFileSync, copyFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Recorded } from '../../src/contract/catalog.ts'
import type { Key } from '../../src/kinds/key.ts'
import { pictureOf } from '../../src/manifest/diagnostics/diagnostic.ts'
import { createSource, type LoadResult, type Source } from '../../src/manifest/source.ts'
import { temporaryFolder } from '../manifest/support.ts'
import type { Files } from './hostile/text.ts'

export interface Readings {
  readonly bytes: number
  /** After the change; at least as many as before. */
  readonly bytesAgain: number
  /** CPU of the process for the first reading, up to the pictures of its findings, ms. */
  readonly first: number
  /** The same for one more, after a small change. */
  readonly again: number
  /** The largest heap between two slices, MB. */
  readonly heapMb: number
  /** Findings without a place or a word, crashes aside: those are thrown. */
  readonly nowhere: readonly string[]
}

/** What is done to the catalog between its readings. */
export type Edit = 'add a line' | 'copy a file' | 'remove a file'

export const EDITS: readonly Edit[] = ['add a line', 'copy a file', 'remove a file']

/** ms between two looks at the heap. */
const LOOK = 20

/** Reads a catalog from a directory as the daemon does, then once more after one file of it changed. */
export async function readCatalog(files: Files, edit: Edit): Promise<Readings> {
  using folder = temporaryFolder()
  for (const [file, text] of files) folder.write(file, text)
  const source = createSource({ profile: DEFAULT, root: folder.path })
  let heap = 0
  const look = setInterval(() => (heap = Math.max(heap, process.memoryUsage().heapUsed)), LOOK)
  try {
    const first = await timed(source, new Map())
    const changed = [...files.keys()][files.size >> 1] ?? ''
    change(join(folder.path, changed), edit)
    const again = await timed(source, recordedIn(first.result))
    const bytes = files.values().reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    return {
      bytes,
      bytesAgain: bytes + (edit === 'copy a file' ? Buffer.byteLength(files.get(changed) ?? '') : 0),
      first: first.cpuMs,
      again: again.cpuMs,
      heapMb: heap / 2 ** 20,
      nowhere: [...first.nowhere, ...again.nowhere],
    }
  } finally {
    clearInterval(look)
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

function change(file: string, edit: Edit): void {
  switch (edit) {
    case 'add a line':
      appendFileSync(file, '\n# one more line\n')
      return
    case 'copy a file':
      copyFileSync(file, join(dirname(file), 'a-copy.yaml'))
      return
    case 'remove a file':
      rmSync(file)
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
