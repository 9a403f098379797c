import { spawn } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  appendFileSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '../torture/random.ts'
import { AREAS, EQUIVALENT, type Area } from './areas.ts'
import { JOURNAL, type Line } from './journal.ts'
import { mutationsOf, withSwitches, type Mutation } from './mutations.ts'

/*
 * `npm run mutants -- --minutes 6 [--mutants 20] [--seed S] [--area NAME] [--tests PATH]`: makes small mistakes in a copy of the sources,
 * and runs the tests that reach them. Prints how many of a hundred are noticed, and each that is not. Fails if an area falls below its
 * target, or below its last score if that is lower.
 *
 * All mistakes of the sample are in the copy, behind switches: `runner.ts` repeats each test with each mistake that it reaches. Then those
 * that are made while a module loads, and those in slow tests, are made one by one.
 */

const ROOT = join(import.meta.dirname, '..', '..')
/** Nothing happens: a mistake made a loop without end. */
const HANGS_MS = 60_000
/** Tests of one mistake that is made alone. */
const MAX_ALONE_MS = 20_000
/** Fewer say nothing about a score. */
const MIN_SAMPLE = 20
/** Another sample of the same sources can score so many less of a hundred. */
const CHANCE = 8

interface Mutant extends Mutation {
  readonly area: Area
  readonly file: string
  readonly text: string
  readonly line: number
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '6' },
    mutants: { type: 'string', default: '20' },
    seed: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    area: { type: 'string', multiple: true },
    tests: { type: 'string', multiple: true, default: [] },
  },
})
const until = Date.now() + Number(values.minutes) * 60_000
const random = createRandom(`mutants ${values.seed}`)
const areas = AREAS.filter(({ name }) => values.area?.includes(name) ?? true)
const sample = areas
  .flatMap((area) => shuffled(mutantsOf(area)).slice(0, Number(values.mutants)))
  .toSorted((a, b) => a.file.localeCompare(b.file) || a.start - b.start)

using copy = copyOfRepository()
const journal = join(copy.dir, 'mutants.jsonl')
const noticed = new Map<Mutant, string>()
/** Mark -n is in the n-th of these files. */
const marks: string[] = []
let isWhole = values.tests.length === 0
await trySwitched()
await tryAlone()
if (Date.now() > until) isWhole = false
report()

async function trySwitched(): Promise<void> {
  const switched = [...sample.entries()].filter(([, { isAtLoad }]) => !isAtLoad)
  const files = Map.groupBy(switched, ([, { file }]) => file)
  const originals = new Map(sample.map(({ file, text }) => [file, text]))
  for (const [file, text] of originals) {
    const made = new Map<number, Mutation>(files.get(file))
    // Never made. They show which tests reach the file.
    for (const mark of marksOf(file, text)) made.set(-marks.push(file), mark)
    writeFileSync(join(copy.dir, file), withSwitches(text, made))
  }
  writeFileSync(journal, '')
  while (Date.now() < until) {
    // A program of its own would not know which mistake is made.
    const env = { [JOURNAL]: journal, TEST_MAIN: join(ROOT, 'src', 'main.ts') }
    const end = await runTests(values.tests, env)
    const last = lines().at(-1)
    if (last?.is === 'red' || last?.is === 'spoiled') continue
    if (end !== 'hangs' || last?.is !== 'tried') break
    appendFileSync(
      journal,
      `${JSON.stringify({ is: 'noticed', mutant: last.mutant, test: 'hangs' } satisfies Line)}\n`,
    )
  }
  for (const [file, text] of originals) writeFileSync(join(copy.dir, file), text)
  for (const line of lines()) {
    const mutant = line.is === 'noticed' ? sample[line.mutant] : undefined
    if (line.is === 'noticed' && mutant !== undefined) noticed.set(mutant, line.test)
  }
}

/** @returns none if no mistake of the sample is made while the file loads */
function marksOf(file: string, text: string): readonly Mutation[] {
  const inFile = sample.filter((mutant) => mutant.file === file)
  if (!inFile.some(({ isAtLoad }) => isAtLoad)) return []
  const isOther = (one: Mutation) =>
    !inFile.some(({ start, what }) => start === one.start && what === one.what)
  return mutationsOf(text).filter((one) => !one.isAtLoad && isOther(one))
}

async function tryAlone(): Promise<void> {
  for (const mutant of sample) {
    if (noticed.has(mutant) || Date.now() > until) continue
    const tests = testsAlone(mutant)
    if (tests.length === 0) continue
    const path = join(copy.dir, mutant.file)
    writeFileSync(path, mutant.text.slice(0, mutant.start) + mutant.to + mutant.text.slice(mutant.end))
    const end = await runTests(tests, {})
    if (end !== 'green') noticed.set(mutant, `${end}, made alone`)
    writeFileSync(path, mutant.text)
  }
}

/** Of a mistake that is made at load, if at all, the tests that reach the rest of its file. Otherwise those that were too slow, or that it spoiled. */
function testsAlone(mutant: Mutant): readonly string[] {
  const at = sample.indexOf(mutant)
  const isAround = (one: number) => (sample[one]?.file ?? marks[-one - 1]) === mutant.file
  const isLoaded = mutant.isAtLoad || !lines().some((line) => line.is === 'file' && line.mutants.includes(at))
  const ms = new Map<string, number>()
  const found = new Set<string>()
  for (const line of lines()) {
    if (line.is === 'file') ms.set(line.file, line.ms)
    if (line.is === 'file' && isLoaded && line.mutants.some(isAround)) found.add(line.file)
    if (line.is === 'slow' && line.mutants.includes(at)) found.add(line.file)
    if (line.is === 'spoiled' && line.mutant === at) found.add(line.file)
  }
  let left = MAX_ALONE_MS
  return [...found]
    .toSorted((a, b) => (ms.get(a) ?? 0) - (ms.get(b) ?? 0))
    .filter((file) => (left -= ms.get(file) ?? 0) > 0)
}

function lines(): readonly Line[] {
  const written = readFileSync(journal, 'utf8').split('\n').slice(0, -1)
  return written.map((line) => JSON.parse(line) as Line)
}

function runTests(tests: readonly string[], env: NodeJS.ProcessEnv): Promise<'green' | 'red' | 'hangs'> {
  const args = [
    'node',
    'node_modules/.bin/vitest',
    'run',
    '--config',
    'test/mutants/vitest.config.ts',
    ...tests,
  ]
  const run = spawn('nice', args, {
    cwd: copy.dir,
    env: { ...process.env, ...env },
    stdio: 'ignore',
    detached: true,
  })
  const began = Date.now()
  const kill = () => run.pid === undefined || process.kill(-run.pid, 'SIGKILL')
  process.once('SIGTERM', kill)
  return new Promise((resolve) => {
    const watch = setInterval(() => {
      const isTrying = env[JOURNAL] === undefined || lines().at(-1)?.is === 'tried'
      const last = env[JOURNAL] === undefined ? began : Math.max(began, statSync(journal).mtimeMs)
      if ((!isTrying || Date.now() - last < HANGS_MS) && Date.now() < until) return
      kill()
      resolve(Date.now() < until ? 'hangs' : 'green')
    }, 2_000)
    run.on('exit', (code) => {
      clearInterval(watch)
      process.off('SIGTERM', kill)
      resolve(code === 0 ? 'green' : 'red')
    })
  })
}

function mutantsOf(area: Area): readonly Mutant[] {
  return globSync(area.sources.map((glob) => join(ROOT, 'src', glob)))
    .toSorted()
    .flatMap((path) => {
      const text = readFileSync(path, 'utf8')
      const file = relative(ROOT, path)
      return mutationsOf(text).map((mutation) => {
        return { ...mutation, area, file, text, line: text.slice(0, mutation.start).split('\n').length }
      })
    })
    .filter(
      (mutant) =>
        !EQUIVALENT.some(
          (one) =>
            mutant.file.endsWith(one.file) && lineOf(mutant).includes(one.line) && mutant.what === one.what,
        ),
    )
}

function lineOf({ text, line }: Mutant): string {
  return text.split('\n')[line - 1] ?? ''
}

function shuffled(all: readonly Mutant[]): Mutant[] {
  const placed = all.map((mutant) => ({ mutant, place: random.next() }))
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
  const reached = new Set(lines().flatMap((line) => (line.is === 'file' ? line.mutants : [])))
  for (const [at, mutant] of sample.entries()) {
    if (noticed.has(mutant)) continue
    say(
      `survived: ${mutant.file}:${mutant.line} ${mutant.what} | ${lineOf(mutant).trim()}${reached.has(at) ? '' : ' (no test reaches it)'}`,
    )
  }
  const red = lines().flatMap((line) => (line.is === 'red' ? [line.test] : []))
  for (const test of new Set(red.filter((one, at) => red.indexOf(one) < at)))
    say(`fails without a mistake: ${test}`)
  say(`\n${'area'.padEnd(24)} mutants noticed  score target   last (seed ${values.seed})`)
  for (const { name, target, last } of areas) {
    const all = sample.filter(({ area }) => area.name === name)
    const score = scoreOf({
      mutants: all.length,
      noticed: all.filter((mutant) => noticed.has(mutant)).length,
    })
    const before = scoreOf(last)
    const columns = [all.length, all.filter((mutant) => noticed.has(mutant)).length, score, target, before]
    say(`${name.padEnd(24)} ${columns.map((column) => String(column).padStart(7)).join(' ')}`)
    if (isWhole && all.length >= MIN_SAMPLE && score < Math.min(target, before) - CHANCE) process.exitCode = 1
  }
  if (!isWhole) say('Not all tests ran. The scores are too low.')
}

function scoreOf({
  mutants,
  noticed: count,
}: {
  readonly mutants: number
  readonly noticed: number
}): number {
  return mutants === 0 ? 0 : Math.round((count / mutants) * 100)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
