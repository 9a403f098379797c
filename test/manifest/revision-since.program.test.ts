import { execFileSync } from 'node:child_process'
import { lstatSync, lutimesSync, mkdirSync, symlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { revisionSince } from '../../src/manifest/files/revision-since.ts'
import { createWorkspace } from '../support/workspace.ts'

const ID = '0123456789012345678901234567890123456789'
const AT = 1_780_000_000

test('with git-sync: when its link was swapped, also from a folder below it', async () => {
  using workspace = createWorkspace()
  mkdirSync(workspace.path(`${ID}/deploy`), { recursive: true })
  symlinkSync(ID, workspace.path('current'))
  lutimesSync(workspace.path('current'), AT, AT)
  const root = workspace.path('current/deploy')
  expect(await revisionSince(root, { id: ID, from: 'git-sync' })).toBe(AT * 1_000)
})

test('in a ConfigMap: when its data was swapped; of a plain folder nobody knows', async () => {
  using workspace = createWorkspace()
  mkdirSync(workspace.path('mount/..2026'), { recursive: true })
  const content = { id: 'content-0123456789ab', from: 'content' } as const
  expect(await revisionSince(workspace.path('mount'), content)).toBeUndefined()
  symlinkSync('..2026', workspace.path('mount/..data'))
  const { mtimeMs } = lstatSync(workspace.path('mount/..data'))
  expect(await revisionSince(workspace.path('mount'), content)).toBe(mtimeMs)
})

test('in a checkout: when HEAD last moved, and not when a file did', async () => {
  using workspace = createWorkspace()
  let at = AT
  const git = (...args: readonly string[]) =>
    execFileSync(
      'git',
      ['-C', workspace.dir, '-c', 'user.name=N', '-c', 'user.email=n@example.com', ...args],
      {
        env: { ...process.env, GIT_COMMITTER_DATE: `${at} +0000` },
      },
    )
  git('init', '-q')
  expect(await revisionSince(workspace.manifests, { id: ID, from: 'git' })).toBeUndefined()
  git('commit', '-q', '--allow-empty', '-m', 'a first line\n\nand <more> 1 +0000\tof it')
  workspace.write('manifests/a.yaml', '')
  expect(await revisionSince(workspace.manifests, { id: ID, from: 'git' })).toBe(AT * 1_000)
  at += 3_600 // a job that fetches nothing, for hours
  for (let time = 0; time < 20; time += 1) git('reset', '-q', '--hard', 'HEAD')
  expect(await revisionSince(workspace.manifests, { id: ID, from: 'git' })).toBe(AT * 1_000)
  git('commit', '-q', '--allow-empty', '-m', 'a second one')
  expect(await revisionSince(workspace.manifests, { id: ID, from: 'git' })).toBe(at * 1_000)
})
