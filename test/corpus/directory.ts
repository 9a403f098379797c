import { PROFILES } from '../../src/kinds/profiles/profiles.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Catalog } from '../../src/contract/catalog.ts'
import { createSource } from '../../src/manifest/source.ts'
import { never, temporaryFolder } from '../manifest/support.ts'
import type { CorpusCase } from './load.ts'

/** What one reading says of a case that was written to a directory of its own. */
export async function catalogOf(
  each: Pick<CorpusCase, 'profile' | 'files' | 'links' | 'limits'>,
): Promise<Catalog> {
  using folder = temporaryFolder()
  for (const [file, bytes] of Object.entries(each.files)) folder.write(file, bytes)
  for (const [link, target] of Object.entries(each.links)) {
    mkdirSync(dirname(join(folder.path, link)), { recursive: true })
    symlinkSync(target, join(folder.path, link))
  }
  const source = createSource({
    profile: PROFILES.find(({ name }) => name === each.profile) ?? DEFAULT,
    root: folder.path,
    limits: each.limits,
  })
  const { state } = await source.load(new Map(), { accept: 'normal' }, never)
  return state.catalog
}
