import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * `npm test` starts no program and waits for no real time: a fault shows in each run or in none. These files are the exceptions. Their number
 * is a row of `budget.json`, so a new one needs another one to go.
 */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'cli/ledger-accept.test.ts': 'The ledger takes a clock, and waits for nothing.',
  'daemon/system-clock.test.ts': 'The system clock itself.',
  'daemon/watch-paths.test.ts': 'Time stamps of the file system.',
  'daemon/watcher.test.ts': 'Events of the file system.',
  'kubernetes/cluster-faults.test.ts': 'Connections that fail, with limits of undici.',
  'kubernetes/ignored-objects.test.ts': 'A watch over HTTP.',
  'kubernetes/ledger-rollback.test.ts': 'A watch over HTTP.',
  'notify/delivery.test.ts': 'The back-off of p-retry.',
  'platform/create.test.ts': 'Limits of a real connection.',
  'platform/faults.test.ts': 'Limits of a real connection.',
  'platform/list.test.ts': 'A request over HTTP that waits for its turn.',
  'server/connections.test.ts': 'Real connections that the server closes.',
  'server/request-turns.test.ts': 'Shares of the event loop.',
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
