import { lstatSync, lutimesSync, mkdirSync, symlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { revisionSince } from '../../src/manifest/files/commit.ts'
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

test('in a checkout: unknown, even behind a link', async () => {
  using workspace = createWorkspace()
  symlinkSync('manifests', workspace.path('current'))
  expect(await revisionSince(workspace.path('current'), { id: ID, from: 'git' })).toBeUndefined()
})
