import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '../torture/random.ts'
import { AREAS, type Area } from './areas.ts'
import { mutationsOf, type Mutation } from './mutations.ts'

/*
 * `npm run mutants -- --minutes 6 [--seed S] [--area NAME]`: makes one small mistake at a time in a copy of the sources, and runs the tests of
 * its area until one fails. Prints how many of a hundred are noticed, and each that is not. Fails if an area stays below its target.
 */

const ROOT = join(import.meta.dirname, '..', '..')
/** Tests that take longer hang: that is noticed, too. */
const LIMIT_MS = 240_000
/** Fewer say nothing about a score. */
const MIN_SAMPLE = 20

interface Mutant extends Mutation {
  readonly file: string
  readonly line: number
}

interface Score {
  noticed: number
  readonly survivors: Mutant[]
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '6' },
    seed: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    area: { type: 'string', multiple: true },
  },
})
const areas = AREAS.filter(({ name }) => values.area?.includes(name) ?? true)
const random = createRandom(`mutants ${values.seed}`)
const scores = new Map<Area, Score>(areas.map((area) => [area, { noticed: 0, survivors: [] }]))

using copy = copyOfRepository()
for (const tests of new Set(areas.flatMap((area) => area.tests)))
  if (fails(tests)) throw new Error(`${tests} fails without a mistake: nothing can be judged by it`)
const until = Date.now() + Number(values.minutes) * 60_000
const waiting = new Map(areas.map((area) => [area, shuffled(mutantsOf(area))]))
for (let turn = 0; Date.now() < until; turn += 1) {
  const area = areas[turn % areas.length]
  const mutant = area && waiting.get(area)?.pop()
  if (area === undefined || [...waiting.values()].every(({ length }) => length === 0)) break
  if (mutant !== undefined) judge(area, mutant)
}
report()

function judge(area: Area, mutant: Mutant): void {
  const path = join(copy.dir, mutant.file)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.slice(0, mutant.start) + mutant.to + text.slice(mutant.end))
  const isNoticed = area.tests.some((tests) => fails(tests))
  writeFileSync(path, text)
  const score = scores.get(area)
  if (isNoticed && score !== undefined) score.noticed += 1
  else score?.survivors.push(mutant)
  say(`${isNoticed ? 'noticed ' : 'SURVIVED'} ${mutant.file}:${mutant.line} ${mutant.what}`)
}

function fails(tests: string): boolean {
  const args = ['run', '--project', 'in process', '--bail', '1', '--reporter', 'dot', tests]
  const { status } = spawnSync(join(ROOT, 'node_modules/.bin/vitest'), args, {
    cwd: copy.dir,
    stdio: 'ignore',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  return status !== 0
}

function mutantsOf({ sources }: Area): readonly Mutant[] {
  return globSync(sources.map((glob) => join(ROOT, 'src', glob))).flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    const file = relative(ROOT, path)
    return mutationsOf(text).map((mutation) => {
      return { ...mutation, file, line: text.slice(0, mutation.start).split('\n').length }
    })
  })
}

function shuffled(mutants: readonly Mutant[]): Mutant[] {
  const placed = mutants.map((mutant) => ({ mutant, place: random.next() }))
  return placed.toSorted((a, b) => a.place - b.place).map(({ mutant }) => mutant)
}

function copyOfRepository() {
  const dir = mkdtempSync(join(tmpdir(), 'pipewright-mutants-'))
  const isLeftOut = (path: string) => /^(?:node_modules|\.git|dist)(?:$|\/)/.test(relative(ROOT, path))
  cpSync(ROOT, dir, { recursive: true, filter: (path) => !isLeftOut(path) })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) }
}

function report(): void {
  say(`\n${'area'.padEnd(24)} mutants noticed  score target (seed ${values.seed})`)
  for (const [{ name, target }, { noticed, survivors }] of scores) {
    const count = noticed + survivors.length
    const score = count === 0 ? 0 : (noticed / count) * 100
    const columns = [String(count).padStart(7), String(noticed).padStart(7), score.toFixed(0).padStart(6)]
    say(`${name.padEnd(24)} ${columns.join(' ')} ${String(target).padStart(6)}`)
    if (count >= MIN_SAMPLE && score < target) process.exitCode = 1
  }
  for (const { survivors } of scores.values())
    for (const { file, line, what } of survivors) say(`survived: ${file}:${line} ${what}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
