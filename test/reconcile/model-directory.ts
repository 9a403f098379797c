import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import type { Profile } from '../../src/kinds/profile.ts'
import type { Recorded } from '../../src/contract/catalog.ts'
import type { Key } from '../../src/kinds/key.ts'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import type { ParsedFile } from '../../src/manifest/validate/parse-file.ts'
import { createFindingRoom } from '../../src/manifest/validate/parse-document.ts'
import { createPlaces } from '../../src/manifest/rules/source-locator.ts'
import { nextCatalog, parseFile } from '../support/at-once.ts'

/** Files as texts, that several processes may read. */
export type ModelDirectory = ReturnType<typeof createModelDirectory>

/** @param cache parsed files, which many directories of one profile may share: the same text is not parsed twice */
export function createModelDirectory(cache: Map<string, ParsedFile>, profile: Profile = DEFAULT) {
  const files = new Map<string, string>()
  return {
    files,
    parsed() {
      const sorted = [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))
      return new Map(sorted.map(([file, text]) => [file, parse(cache, profile, { file, text })]))
    },
  }
}

function parse(
  cache: Map<string, ParsedFile>,
  profile: Profile,
  { file, text }: { readonly file: string; readonly text: string },
): ParsedFile {
  const hash = `${file}\n${text}`
  const known = cache.get(hash)
  if (known !== undefined) return known
  const parsed = parseFile(
    { file, hash, bytes: Buffer.from(text) },
    { profile, limits: DEFAULT_LIMITS, room: createFindingRoom() },
  )
  cache.set(hash, parsed)
  return parsed
}

/** What one process knows of the directory, from reading to reading; the real rules of the catalog. */
export function createReader(directory: ModelDirectory, accept: 'force' | 'normal' = 'force') {
  let state: ReturnType<typeof nextCatalog> | undefined
  let readings = 0
  return {
    /** @returns the catalog; the keys whose meaning changed, that appeared, or that became gone; whether the next reading may find more gone */
    read(recorded: ReadonlyMap<Key, Recorded>) {
      readings += 1
      const before = state?.catalog
      const files = directory.parsed()
      const revision = { id: `revision-${readings}`, from: 'git' } as const
      const reading = { revision, files, findings: [], unread: [], problem: undefined }
      const places = createPlaces((file) => directory.files.get(file))
      state = nextCatalog({ previous: state, reading, recorded, places, accept })
      const { catalog } = state
      const changed = [
        ...[...catalog.entries.values()]
          .filter(({ key, digest }) => before?.entries.get(key)?.digest !== digest)
          .map(({ key }) => key),
        ...[...catalog.deleted].filter((key) => before?.deleted.has(key) !== true),
      ]
      return { catalog, changed, isPending: state.pending.size > 0 }
    },
  }
}
