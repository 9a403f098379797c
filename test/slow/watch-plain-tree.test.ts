import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { LoadResult } from '../../src/manifest/source.ts'
import { exhausted, follow, type Following } from './support/git-sync-following.ts'
import { createRepository } from './support/git-sync-repository.ts'
import { alertText, write } from './support/git-sync-trees.ts'
import { folderForTest } from '../support/folders.ts'

const FILES = 200
const IN_THE_FOLDER = 100

/** With events nothing else is asked; without, walks and full readings come often enough for a test. */
const MODES = [
  { mode: 'recursive', options: { quietMs: 100 } },
  { mode: 'polling', options: { listen: exhausted, quietMs: 20, walkMs: 50, pollingFullMs: 400 } },
] as const

let base: string
let root: string
beforeEach(() => {
  base = folderForTest()
  root = join(base, 'work', 'manifests')
})

function idsOf({ state }: LoadResult): readonly string[] {
  return [...state.catalog.entries.values()].flatMap(({ state: found, manifest }) =>
    found === 'valid' && manifest?.kind === 'Alert' ? [String(manifest.spec['id'])] : [],
  )
}

function filesOf({ state }: LoadResult): readonly string[] {
  return [...state.catalog.entries.values()].map(({ position }) => position.file)
}

/** Nothing was found that the watcher should have announced and did not. */
function expectHeard(following: Following): void {
  if (following.mode() === 'polling') return
  expect(new Set(following.readings.map(({ why }) => why))).toEqual(new Set(['start', 'event']))
}

function isStamped(stamp: string, count: number) {
  return (result: LoadResult) => {
    const ids = idsOf(result)
    return ids.length === count && ids.every((id) => id.startsWith(`${stamp}-`))
  }
}

describe.each(MODES)('a plain tree, $mode', ({ mode, options }) => {
  test('a checkout of another branch with 200 files is found whole, at its commit, there and back', async () => {
    const repository = createRepository(join(base, 'work'), join(base, 'origin.git'))
    const commits = new Map<string, string>()
    for (const branch of ['main', 'other']) {
      if (branch === 'other') repository.git('checkout', '--quiet', '-b', 'other')
      for (let n = 0; n < FILES; n += 1) {
        repository.write(`manifests/team-${n % 10}/a-${n}.yaml`, alertText(`a-${n}`, `${branch}-${n}`))
      }
      commits.set(branch, repository.commit(branch))
    }
    await using following = await follow(root, options)
    expect(following.mode()).toBe(mode)
    for (const branch of ['main', 'other', 'main', 'other']) {
      repository.git('checkout', '--quiet', branch)
      const { state } = await following.see(`a checkout of ${branch}`, isStamped(branch, FILES))
      await following.see('its commit', (result) => result.state.catalog.revision.id === commits.get(branch))
      expect(state.catalog.findings).toEqual([])
    }
    expectHeard(following)
  })

  test('a folder with 100 files that is renamed: each resource moves along, and none is taken for gone', async () => {
    for (let n = 0; n < IN_THE_FOLDER; n += 1)
      write(join(root, `old/a-${n}.yaml`), alertText(`a-${n}`, `id-${n}`))
    await using following = await follow(root, options)
    renameSync(join(root, 'old'), join(root, 'new'))
    const { state, changed } = await following.see('the folder under its new name', (result) =>
      filesOf(result).every((file) => file.startsWith('new/')),
    )
    expect(state.catalog.entries.size).toBe(IN_THE_FOLDER)
    expect({ changed, gone: [...state.catalog.deleted], findings: state.catalog.findings }).toEqual({
      changed: [],
      gone: [],
      findings: [],
    })
    write(join(root, 'new/a-7.yaml'), alertText('a-7', 'id-seven'))
    await following.see('an edit below the new name', ({ changed: keys }) => keys.includes('Alert/a-7'))
    expectHeard(following)
  })
})
