import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { follow } from './support/git-sync-following.ts'
import { installGitSync, type Installed } from './support/git-sync-install.ts'
import { createRepository } from './support/git-sync-repository.ts'
import { alertText } from './support/git-sync-trees.ts'
import { folderForFile } from '../support/folders.ts'

const COMMITS = 100
/** Each so-manieth is waited for; of the others, as many are seen as git-sync brings. */
const EACH = 10

/** Files that every commit rewrites with its number: a state that mixes two commits shows in them. */
const STAMPED = 5

const base = folderForFile()
let installed: Installed

beforeAll(async () => {
  installed = await installGitSync(join(base, 'bin'))
})

test('a hundred commits through the real git-sync: never mixed, and the last one is seen', async (context) => {
  if (installed.program === undefined) {
    process.stdout.write(`THE REAL git-sync WAS NOT RUN: ${installed.why}\n`)
    context.skip(installed.why)
    return
  }
  const repository = createRepository(join(base, 'work'), join(base, 'origin.git'))
  const commit = (generation: number) => {
    for (let n = 0; n < STAMPED; n += 1) {
      repository.write(`manifests/stamped/s${n}.yaml`, alertText(`s-${n}`, `g-${generation}`))
    }
    repository.write(`manifests/n-${generation}.yaml`, alertText(`n-${generation}`, `alert-${generation}`))
    const hash = repository.commit(`generation ${generation}`)
    repository.push()
    return hash
  }
  const hashes = [commit(0)]
  mkdirSync(join(base, 'home'))
  writeFileSync(join(base, 'home', '.gitconfig'), '')
  const sync = spawn(
    installed.program,
    [`--repo=file://${join(base, 'origin.git')}`, '--ref=main', `--root=${join(base, 'root')}`].concat([
      '--link=current',
      '--period=100ms',
      '--max-failures=-1',
    ]),
    {
      env: { PATH: process.env['PATH'] ?? '', HOME: join(base, 'home') },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const ended = once(sync, 'exit')
  let told = ''
  sync.stderr.setEncoding('utf8').on('data', (text: string) => {
    told = (told + text).slice(-4_000)
  })
  context.onTestFailed(() => void process.stdout.write(`The last that git-sync said:\n${told}\n`))
  try {
    const seen = new Map<string, readonly string[]>()
    await using following = await follow(join(base, 'root', 'current', 'manifests'))
    const look = () => {
      const { catalog } = following.last().state
      if (catalog.problem !== undefined) return catalog.revision.id
      const stamps = [...catalog.entries.values()].flatMap(({ manifest }) =>
        manifest?.kind === 'Alert' && String(manifest.spec['id']).startsWith('g-')
          ? [String(manifest.spec['id'])]
          : [],
      )
      seen.set(catalog.revision.id, [String(catalog.entries.size), ...stamps])
      return catalog.revision.id
    }
    await following.see('git-sync to bring the first commit', () => look() === hashes[0])
    for (let generation = 1; generation < COMMITS; generation += 1) {
      hashes.push(commit(generation))
      look()
      // The working copy is written without letting anyone else run.
      if (generation % EACH === 0) await following.see('this commit', () => look() === hashes.at(-1))
      else await setImmediate()
      look()
    }
    await following.see('the last commit', () => look() === hashes.at(-1))

    for (const [hash, [count, ...stamps]] of seen) {
      const generation = hashes.indexOf(hash)
      expect(generation).toBeGreaterThanOrEqual(0)
      expect(count).toBe(String(STAMPED + generation + 1))
      expect(stamps).toEqual(Array.from({ length: STAMPED }, () => `g-${generation}`))
    }
    expect(seen.size).toBeGreaterThanOrEqual(COMMITS / EACH)
    const order = following.readings
      .filter(({ problem }) => problem === undefined)
      .map(({ revision }) => hashes.indexOf(revision))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(new Set(following.readings.map(({ why }) => why))).toEqual(new Set(['start', 'event']))
    process.stdout.write(
      `${installed.program}: ${seen.size} of ${COMMITS} commits were seen, ${following.readings.length} readings\n`,
    )
  } finally {
    sync.kill('SIGKILL')
    await ended
  }
})
