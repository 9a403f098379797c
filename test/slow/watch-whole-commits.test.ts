import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { type Reading, readDirectory } from '../../src/manifest/files/read-directory.ts'
import { until } from '../support/until.ts'
import { FILES } from './support/git-sync-fast-writer.ts'
import { commitName } from './support/git-sync-trees.ts'

const WRITER = fileURLToPath(new URL('./support/git-sync-fast-writer.ts', import.meta.url))

/** Readings after which a row is done, and the time it has for them; a writer without pauses may leave none of them whole. */
const READINGS = 1_000
const LIMIT_MS = 5_000

const ROWS = [
  { why: 'a link, swapped as fast as a process can', kind: 'link', pauseMs: 0, atLeast: 0 },
  { why: 'a link, swapped every few milliseconds', kind: 'link', pauseMs: 20, atLeast: 20 },
  { why: 'a ConfigMap, swapped as fast as a process can', kind: 'config-map', pauseMs: 0, atLeast: 0 },
  { why: 'a ConfigMap, swapped every few milliseconds', kind: 'config-map', pauseMs: 60, atLeast: 20 },
] as const

/** The generation of each file, as it was read. */
function generationsOf(reading: Reading): readonly number[] {
  return [...reading.files.values()].map((file) =>
    Number(/g-(\d+)/.exec(JSON.stringify(file.documents))?.[1]),
  )
}

async function readWhileSwapped(kind: 'link' | 'config-map', pauseMs: number) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'pipewright-whole-')))
  if (kind === 'config-map') {
    mkdirSync(join(base, 'mount'))
    for (let n = 0; n < FILES; n += 1) symlinkSync(`..data/f${n}.yaml`, join(base, `mount/f${n}.yaml`))
  }
  const root = join(base, kind === 'link' ? 'current' : 'mount')
  const writer = fork(WRITER, [base, kind, String(pauseMs)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(writer, 'exit')
  const told = { whole: 0, unstable: 0, generations: 0, fewest: FILES }
  const mixed: string[] = []
  const reasons = new Set<string>()
  let last = 0
  try {
    await until('the first tree', () => existsSync(join(base, kind === 'link' ? 'current' : 'mount/..data')))
    const end = performance.now() + LIMIT_MS
    while (told.whole < READINGS && performance.now() < end) {
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
        continue
      }
      told.whole += 1
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
    expect(writer.exitCode).toBeNull()
  } finally {
    writer.kill('SIGKILL')
    await ended
    rmSync(base, { recursive: true, force: true })
  }
  return { told, mixed, last, reasons: [...reasons] }
}

describe('a reading mixes no two generations, and its revision belongs to what was read', () => {
  test.each(ROWS)('$why', { timeout: 60_000 }, async ({ why, kind, pauseMs, atLeast }) => {
    const { told, mixed, last, reasons } = await readWhileSwapped(kind, pauseMs)
    process.stdout.write(
      `${why}: ${told.whole} whole readings of ${told.generations} generations, ${told.unstable} given up, ${last} swaps\n`,
    )
    expect(mixed).toEqual([])
    expect(reasons.filter((reason) => reason !== 'SourceUnstable')).toEqual([])
    expect(told.whole).toBeGreaterThanOrEqual(atLeast)
    expect(told.whole + told.unstable).toBeGreaterThan(0)
  })
})
