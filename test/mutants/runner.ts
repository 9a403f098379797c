import { appendFileSync, readFileSync } from 'node:fs'
import { TestRunner, type RunnerTask, type RunnerTestCase, type RunnerTestFile } from 'vitest'
import { JOURNAL, type Line } from './journal.ts'

/*
 * A runner for Vitest: it plays each test once as it is, and once more with each mistake that the test reached and that no test noticed so
 * far. The sources have all mistakes in them, and ask `mutantAt` which one is made. After each that is noticed, the test has to pass again.
 */

/* CPU time. A longer test is not repeated; a mistake that cost more in one test file, or in all, is not tried again there. */
const MAX_TEST_MS = 2_000
const MAX_IN_FILE_MS = 1_000
const MAX_MS = 6_000

const journal = process.env[JOURNAL] ?? ''
const lines = readFileSync(journal, 'utf8').split('\n').filter(Boolean)
const known = lines.map((line) => JSON.parse(line) as Line)
const noticed = new Set(known.flatMap((line) => (line.is === 'noticed' ? [line.mutant] : [])))
const done = new Set(known.flatMap((line) => (line.is === 'file' ? [line.file] : [])))
const spoilers = new Set(known.flatMap((line) => (line.is === 'spoiled' ? [line.mutant] : [])))
const red = new Set(known.flatMap((line) => (line.is === 'red' ? [line.test] : [])))
let active: number | undefined
let reached: Set<number> | undefined

Object.assign(globalThis, {
  mutantAt(mutant: number): boolean {
    reached?.add(mutant)
    return mutant === active
  },
})

function write(line: Line): void {
  appendFileSync(journal, `${JSON.stringify(line)}\n`)
}

type Round = { readonly is: 'plain' } | { readonly is: 'try' | 'check'; readonly mutant: number }

// oxlint-disable-next-line no-default-export -- Vitest imports it by this name
export default class MutantRunner extends TestRunner {
  private round: Round | undefined
  private waiting: number[] = []
  private began = process.cpuUsage()
  private readonly spent = new Map<number, number>()
  private readonly spentInFile = new Map<number, number>()
  private file: RunnerTestFile | undefined
  private readonly reachedByFile = new Map<RunnerTestFile, Set<number>>()
  /** Too costly to be tried on in the file: `main.ts` makes them alone. */
  private readonly leftInFile = new Set<number>()

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test)
    this.round = done.has(test.file.filepath) ? undefined : { is: 'plain' }
    // Until `skip`.
    if (test.type === 'test' && test.retry === undefined && test.fails !== true) test.repeats = 1_000_000
  }

  override onBeforeTryTask(
    test: RunnerTask,
    options: { readonly retry: number; readonly repeats: number },
  ): void {
    super.onBeforeTryTask(test, options)
    if (test.type !== 'test' || this.round === undefined) {
      if (test.type === 'test') test.context.skip()
      return
    }
    active = this.round.is === 'try' ? this.round.mutant : undefined
    if (this.round.is === 'try') write({ is: 'tried', mutant: this.round.mutant })
    if (this.round.is === 'plain') {
      write({ is: 'begun' })
      reached = new Set()
    }
    this.began = process.cpuUsage()
  }

  override async onAfterRetryTask(
    test: RunnerTestCase,
    options: { readonly retry: number; readonly repeats: number },
  ): Promise<void> {
    await super.onAfterRetryTask(test, options)
    active = undefined
    const { user, system } = process.cpuUsage(this.began)
    const ms = (user + system) / 1_000
    if (this.round?.is === 'try') this.spend(this.round.mutant, ms)
    const isFailed = test.result?.state === 'fail'
    if (this.round?.is === 'plain') this.begin(test, isFailed, ms)
    else this.round = this.after(test, isFailed)
    if (test.result === undefined || this.round === undefined) return
    test.result.errors = []
    test.result.attempts = []
  }

  override onAfterRunSuite(suite: RunnerTestFile): Promise<void> {
    const mutants = this.reachedByFile.get(suite)
    const left = [...this.leftInFile].filter(isOpen)
    if (mutants !== undefined && left.length > 0) write({ is: 'slow', file: suite.filepath, mutants: left })
    if (mutants !== undefined)
      write({ is: 'file', file: suite.filepath, ms: suite.result?.duration ?? 0, mutants: [...mutants] })
    return super.onAfterRunSuite(suite)
  }

  private begin(test: RunnerTestCase, isFailed: boolean, ms: number): void {
    const all = this.reachedByFile.get(test.file) ?? new Set()
    for (const mutant of reached ?? []) all.add(mutant)
    this.reachedByFile.set(test.file, all)
    if (this.file !== test.file) {
      this.spentInFile.clear()
      this.leftInFile.clear()
    }
    this.file = test.file
    const open = [...(reached ?? [])].filter(isOpen)
    const isSlow = ms > MAX_TEST_MS
    this.waiting = isFailed || isSlow ? [] : open
    if (isFailed) this.meetRed(nameOf(test))
    else if (isSlow && open.length > 0) write({ is: 'slow', file: test.file.filepath, mutants: open })
    reached = undefined
    this.round = this.next()
  }

  private after(test: RunnerTestCase, isFailed: boolean): Round | undefined {
    if (this.round?.is === 'try') return isFailed ? { is: 'check', mutant: this.round.mutant } : this.next()
    if (this.round?.is !== 'check') return
    if (isFailed) {
      write({ is: 'spoiled', mutant: this.round.mutant, file: test.file.filepath })
      endProcess()
    }
    noticed.add(this.round.mutant)
    write({ is: 'noticed', mutant: this.round.mutant, test: nameOf(test) })
    return this.next()
  }

  /** If only a mistake before made it fail, it passes in another process. */
  private meetRed(test: string): void {
    write({ is: 'red', test })
    if (!red.has(test)) endProcess()
  }

  private spend(mutant: number, ms: number): void {
    for (const spent of [this.spent, this.spentInFile]) spent.set(mutant, (spent.get(mutant) ?? 0) + ms)
  }

  private next(): Round | undefined {
    const isLeft = (mutant: number) =>
      (this.spent.get(mutant) ?? 0) < MAX_MS && (this.spentInFile.get(mutant) ?? 0) < MAX_IN_FILE_MS
    for (const mutant of this.waiting) if (!isLeft(mutant)) this.leftInFile.add(mutant)
    this.waiting = this.waiting.filter(isLeft)
    const mutant = this.waiting.shift()
    return mutant === undefined ? undefined : { is: 'try', mutant }
  }
}

function isOpen(mutant: number): boolean {
  return mutant >= 0 && !noticed.has(mutant) && !spoilers.has(mutant)
}

function nameOf(test: RunnerTestCase): string {
  return test.fullName
}

/** A mistake left something behind. `main.ts` begins another process with the files that are not done. */
function endProcess(): void {
  process.kill(process.pid, 'SIGKILL')
}
