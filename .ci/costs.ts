import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * `costs.ts FOLDER STEP…`: prints what each step of `.ci/run` took. Fails if a step took more CPU time than `test/budget.json` allows. A slower
 * machine is given more: a fixed piece of work is timed here, too.
 */

interface Budget {
  /** CPU time of the fixed work on the machine on which the limits were measured: s. */
  readonly work: number
  /** The most CPU time of a step on that machine: s. */
  readonly steps: Readonly<Record<string, number>>
}

const [folder = '', ...steps] = process.argv.slice(2)
const budget = JSON.parse(readFileSync(new URL('../test/budget.json', import.meta.url), 'utf8')) as Budget

/** How much slower this machine is now: never less than 1. */
const slowness = Math.max(1, ...[1, 2, 3].map(() => secondsOfWork() / budget.work))

const above: string[] = []
say(`${'step'.padEnd(28)} ${'CPU s'.padStart(7)} ${'wall s'.padStart(7)} ${'budget'.padStart(7)}`)
for (const step of steps) {
  const cpu = cpuOf(step)
  const limit = budget.steps[step]
  const allowed = limit === undefined ? undefined : Math.round(limit * slowness)
  const wall = read(`${step}.seconds`) || '?'
  const columns = [cpu.toFixed(0), wall, allowed === undefined ? '' : String(allowed)]
  say(`${step.padEnd(28)} ${columns.map((text) => text.padStart(7)).join(' ')}`)
  if (allowed !== undefined && cpu > allowed) above.push(step)
}
say(`A fixed piece of work takes ${slowness.toFixed(2)} times as long as on the machine of the budget.`)
if (above.length > 0) {
  say(`Above the budget of test/budget.json: ${above.join(', ')}`)
  process.exitCode = 1
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function read(name: string): string {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** All that bash's `times` printed, of the shell and of its children: s. */
function cpuOf(step: string): number {
  const parts = [...read(`${step}.times`).matchAll(/(\d+)m([\d.]+)s/g)]
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0)
}

function secondsOfWork(): number {
  const before = process.cpuUsage()
  let value = 0
  for (let at = 0; at < 200_000_000; at += 1) value = (Math.imul(value, 31) + at) | 0
  const { user, system } = process.cpuUsage(before)
  // The result is used, so that the loop is not optimised away.
  return value === 1 ? 0 : (user + system) / 1e6
}
