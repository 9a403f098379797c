import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * `npm test` starts no program and waits for no real time: a fault shows in each run or in none. These files are the exceptions. Their number
 * is a row of `budget.json`, so a new one needs another one to go.
 */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'daemon/system-clock.test.ts': 'The system clock itself.',
  'daemon/watcher.test.ts': 'Events of the file system.',
  'kubernetes/cluster-faults.test.ts': 'Connections that fail, with limits of undici.',
  'kubernetes/ignored-objects.test.ts': 'A watch over HTTP.',
  'kubernetes/ledger-rollback.test.ts': 'A watch over HTTP.',
  'platform/create.test.ts': 'Limits of a real connection.',
  'server/connections.test.ts': 'Real connections that the server closes.',
}

/*
 * Slow tests judge by the order of events, and wait for events without a limit but that of a hang. These files read a clock or let time pass.
 * A machine that takes longer makes none of them fail.
 */
export const SLOW_EXCEPTIONS: Readonly<Record<string, string>> = {
  'main/quiet.program.test.ts': 'A check after the time in which problems are gathered.',
  'platform/fifo.program.test.ts': 'A writer that pauses.',
  'slow/connections.test.ts': 'The pace of those that attack.',
  'slow/ledger-faults-disk.test.ts': 'Nothing more happens while the disk is full.',
  'slow/page-acting.test.ts': 'A check is shown with its time.',
  'slow/page-held.test.ts': 'The browser takes turns; the clock of its page is virtual.',
  'slow/page-many.test.ts': 'The page asks for nothing while nothing changes.',
  'slow/prometheus.test.ts': 'Queries of a real Prometheus.',
  'slow/proxy.test.ts': 'A process is stopped for longer than a create may take.',
  'slow/rows-unsaved.test.ts': 'The ledger is held for longer than one write waits.',
  'slow/standing-still.test.ts': 'A process is stopped for longer than a create may take.',
  'slow/two-pods-failover.test.ts': 'It tells how long nobody acted.',
  'slow/two-pods-load.test.ts': 'It tells what two processes take, which must write nothing in a while.',
  'slow/two-pods.test.ts': 'Processes are stopped for longer than a Lease lasts.',
  'slow/upgrade.test.ts': 'A backup waits for a lock, which nothing shows.',
  'slow/watch-busy.test.ts': 'The process is kept busy.',
  'slow/watch-daemon.test.ts': 'Between two walks.',
}

const TEST = fileURLToPath(new URL('..', import.meta.url))

const REAL =
  /from 'node:child_process'|\b(?:systemClock|realClock|setTimeout|setInterval)\b|\/support\/until\.ts'|AbortSignal\.timeout/

const STARTS = /\b(?:startProgram|runProgram|spawn|spawnSync|execFile|execFileSync)\(/g

/** Files of `npm test` that use real programs or real time. */
export function realFiles(): readonly string[] {
  return testFiles()
    .filter((file) => !file.endsWith('.program.test.ts') && REAL.test(read(file)))
    .toSorted()
}

const TIME = /performance\.now|\bDate\.now|\bsetTimeout\(|\b(?:pause|passes)\((?:\d|\w*_MS|random)/

/** Files of slow tests and programs that read a clock or let time pass. */
export function slowFilesWithTime(): readonly string[] {
  const slow = readdirSync(join(TEST, 'slow')).map((name) => `slow/${name}`)
  return [...testFiles(), ...slow]
    .filter((file) => /^slow\/.*\.test\.ts$|\.program\.test\.ts$/.test(file) && TIME.test(read(file)))
    .toSorted()
}

/** Places that start a program, in the tests of the project `programs`. */
export function programStarts(): number {
  const programs = testFiles().filter((file) => file.endsWith('.program.test.ts'))
  return programs.reduce((count, file) => count + (read(file).match(STARTS)?.length ?? 0), 0)
}

function testFiles(): readonly string[] {
  return readdirSync(TEST, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.test.ts') && !file.startsWith('slow/') && !file.startsWith('structure/'),
  )
}

function read(file: string): string {
  return readFileSync(join(TEST, file), 'utf8')
}
