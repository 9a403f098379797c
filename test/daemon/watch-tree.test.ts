import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TreeWatch, watchTree } from '../../src/daemon/watch-tree.ts'
import { createTouches } from '../../src/daemon/watch-touches.ts'
import { until } from '../support/until.ts'

let dir: string
let tree: TreeWatch
let heard: (string | undefined)[]
let errors: Error[]

beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'pipewright-tree-')))
  heard = []
  errors = []
})
afterEach(() => {
  tree.close()
  rmSync(dir, { recursive: true, force: true })
})

async function start(): Promise<void> {
  tree = await watchTree({
    dir,
    ignores: (path) => path.slice(dir.length).includes('/.'),
    onEvent: (path) => heard.push(path),
    onError: (error) => errors.push(error),
  })
}

const hears = (name: string) => until(`an event at ${name}`, () => heard.includes(join(dir, name)))

test('an edit is announced by its path, at any depth', async () => {
  mkdirSync(join(dir, 'a/b/c'), { recursive: true })
  writeFileSync(join(dir, 'a/b/c/d.yaml'), 'one')
  await start()
  writeFileSync(join(dir, 'a/b/c/d.yaml'), 'two')
  await hears('a/b/c/d.yaml')
  expect(errors).toEqual([])
})

test('what comes into a directory that has just appeared is announced', async () => {
  await start()
  mkdirSync(join(dir, 'new/deep'), { recursive: true })
  await until(
    'a second event for the directory',
    () => heard.filter((path) => path === join(dir, 'new')).length >= 2,
  )
  writeFileSync(join(dir, 'new/deep/a.yaml'), 'one')
  expect(await hears('new/deep/a.yaml')).toBe(true)
})

test('a directory that was replaced by another of its name is watched anew', async () => {
  mkdirSync(join(dir, 'a'))
  mkdirSync(join(dir, 'b'))
  await start()
  renameSync(join(dir, 'a'), join(dir, 'gone'))
  renameSync(join(dir, 'b'), join(dir, 'a'))
  await until(
    'the directory to be announced',
    () => heard.filter((path) => path === join(dir, 'a')).length >= 3,
  )
  heard.length = 0
  writeFileSync(join(dir, 'a/x.yaml'), 'one')
  expect(await hears('a/x.yaml')).toBe(true)
})

test('what is hidden is not watched, and links are not followed', async () => {
  mkdirSync(join(dir, '.git'))
  mkdirSync(join(dir, 'real'))
  symlinkSync('real', join(dir, 'link'))
  await start()
  writeFileSync(join(dir, '.git/index'), 'x')
  writeFileSync(join(dir, 'real/a.yaml'), 'x')
  await hears('real/a.yaml')
  expect(heard.every((path) => path?.startsWith(join(dir, 'real')))).toBe(true)
})

test('says that the directory itself went away', async () => {
  await start()
  expect(tree.isLost()).toBe(false)
  rmSync(dir, { recursive: true })
  await until('the loss to be known', () => tree.isLost())
  expect(errors).toEqual([])
})

test('a directory that is not there is no error', async () => {
  rmSync(dir, { recursive: true })
  await start()
  expect([errors, tree.isLost()]).toEqual([[], false])
})

test('touches are collected until they are taken; too many, or one without a name, may be anything', () => {
  tree = { close: () => undefined, isLost: () => false }
  const touches = createTouches()
  touches.add('a')
  touches.add('a')
  touches.add('b')
  expect(touches.take()).toEqual(new Set(['a', 'b']))
  expect(touches.take()).toEqual(new Set())
  for (let n = 0; n <= 64; n += 1) touches.add(`${n}`)
  touches.add('c')
  expect(touches.take()).toBe('anything')
  touches.add(undefined)
  touches.add('d')
  expect(touches.take()).toBe('anything')
})
