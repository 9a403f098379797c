import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { type Reading, readDirectory } from '../../src/manifest/files/read-directory.ts'
import { until } from '../support/until.ts'
import { FILES } from './support/git-sync-fast-writer.ts'
import { commitName } from './support/git-sync-trees.ts'
import { folderForTest } from '../support/folders.ts'

const WRITER = fileURLToPath(new URL('./support/git-sync-fast-writer.ts', import.meta.url))

/** Generations that a row reads whole, however long that takes. */
const GENERATIONS = 40

/** What a reading that was given up, and a whole one, make of the writer's longest pause: most swaps come while somebody reads. */
const SLOWER = 2
const FASTER = 0.9

/** The generation of each file, as it was read. */
function generationsOf(reading: Reading): readonly number[] {
  return [...reading.files.values()].map((file) =>
    Number(/g-(\d+)/.exec(JSON.stringify(file.documents))?.[1]),
  )
}

async function readWhileSwapped(kind: 'link' | 'config-map') {
  const base = folderForTest()
  if (kind === 'config-map') {
    mkdirSync(join(base, 'mount'))
    for (let n = 0; n < FILES; n += 1) symlinkSync(`..data/f${n}.yaml`, join(base, `mount/f${n}.yaml`))
  }
  const root = join(base, kind === 'link' ? 'current' : 'mount')
  const writer = fork(WRITER, [base, kind], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const ended = once(writer, 'exit')
  const told = { whole: 0, unstable: 0, generations: 0, fewest: FILES }
  const mixed: string[] = []
  const reasons = new Set<string>()
  let last = 0
  let pauseMs = 0
  try {
    await until('the first tree', () => existsSync(join(base, kind === 'link' ? 'current' : 'mount/..data')))
    while (told.generations < GENERATIONS) {
      expect(writer.exitCode).toBeNull()
      const reading = await readDirectory({
        profile: DEFAULT,
        root,
        limits: DEFAULT_LIMITS,
        previous: undefined,
        trust: 'stamps',
        signal: new AbortController().signal,
      })
      if (reading.problem !== undefined) {
        reasons.add(reading.problem.reason)
        told.unstable += 1
        pauseMs = Math.max(1, pauseMs * SLOWER)
        writer.send(pauseMs)
        continue
      }
      told.whole += 1
      pauseMs *= FASTER
      writer.send(pauseMs)
      const generations = generationsOf(reading)
      const [generation = Number.NaN] = generations
      const revision = kind === 'link' ? commitName(generation) : reading.revision.id
      const whole = generations.length === FILES && new Set(generations).size === 1
      if (!whole || reading.revision.id !== revision || generation < last) {
        mixed.push(`${reading.revision.id}: ${generations.join(' ')}, after ${last}`)
      }
      if (generation !== last) told.generations += 1
      last = generation
    }
  } finally {
    writer.kill('SIGKILL')
    await ended
  }
  return { told, mixed, last, reasons: [...reasons] }
}

describe('a reading mixes no two generations, and its revision belongs to what was read', () => {
  test.each(['link', 'config-map'] as const)('a %s, swapped while it is read', async (kind) => {
    const { told, mixed, last, reasons } = await readWhileSwapped(kind)
    process.stdout.write(
      `${kind}: ${told.whole} whole readings of ${told.generations} generations, ${told.unstable} given up, ${last} swaps\n`,
    )
    expect(mixed).toEqual([])
    expect(reasons.filter((reason) => reason !== 'SourceUnstable')).toEqual([])
  })
})
