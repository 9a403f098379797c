import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { readDirectory } from '../../src/manifest/files/read-directory.ts'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { never, temporaryFolder } from './support.ts'

test('a FIFO is a finding, and reading the directory does not wait for a writer', async () => {
  using folder = temporaryFolder()
  execFileSync('mkfifo', [join(folder.path, 'a.yaml')])
  const { findings } = await readDirectory({
    profile: DEFAULT,
    root: folder.path,
    limits: DEFAULT_LIMITS,
    previous: undefined,
    trust: 'stamps',
    signal: never,
  })
  expect(findings.map(({ code }) => code)).toEqual(['file-not-regular'])
})
