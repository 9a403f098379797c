import { cpus, totalmem } from 'node:os'
import { median } from './median.ts'
import type { Options } from './options.ts'
import { isFarOff, isReached, type Measured, type Row, valueOf } from './row.ts'

type Run = Pick<Measured, 'floor' | 'subject'>

/** What the runs of one row at one size came to. */
export type Result = ReturnType<typeof resultOf>

export interface Machine {
  readonly cores: number
  readonly memoryGb: number
  readonly node: string
  readonly platform: string
}

/** Without a name or anything else that tells whose machine it is. */
export function thisMachine(): Machine {
  return {
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  }
}

export function resultOf(row: Row, size: number, measured: readonly Measured[]) {
  const { rule } = row
  const runs = measured.map(({ floor, subject }) => ({
    floor,
    subject,
    value: valueOf(rule, { floor, subject }),
  }))
  const values = runs.map((run) => run.value)
  const value = median(values)
  const isInEach = measured.every(({ faultsIfInEach = [] }) => faultsIfInEach.length > 0)
  const faults: readonly string[] = [
    ...new Set(measured.flatMap((run) => [...run.faults, ...(isInEach ? (run.faultsIfInEach ?? []) : [])])),
  ]
  const names = [...new Set(measured.flatMap((run) => Object.keys(run.notes)))]
  return {
    row: row.name,
    what: row.what,
    floorIs: row.floor,
    unit: row.unit,
    rule,
    size,
    floor: median(runs.map((run) => run.floor)),
    subject: median(runs.map((run) => run.subject)),
    /** Of the quotients, differences or shares of all runs. */
    value,
    least: Math.min(...values),
    most: Math.max(...values),
    runs,
    notes: Object.fromEntries(
      names.map((name) => [name, median(measured.flatMap(({ notes }) => notes[name] ?? []))]),
    ),
    faults,
    isSteady: row.isSteady === true,
    verdict: verdictOf(row, { size, value, runs }),
  }
}

/** What became slower is so in each run; a machine that somebody else uses is so in some. */
function verdictOf(
  { rule, heldFrom = 0 }: Row,
  { size, value, runs }: { readonly size: number; readonly value: number; readonly runs: readonly Run[] },
): 'reached' | 'not reached' | 'far off' | 'not held' {
  if (size < heldFrom) return 'not held'
  if (isReached(rule, value)) return 'reached'
  return runs.every((run) => isFarOff(rule, run)) ? 'far off' : 'not reached'
}

/** Whether the bench ends with 1 for it. */
export function isBad(
  { verdict, faults, isSteady }: Pick<Result, 'verdict' | 'faults' | 'isSteady'>,
  { isShort }: Pick<Options, 'isShort'>,
): boolean {
  return faults.length > 0 || (verdict === 'far off' && (isSteady || !isShort))
}

export function asText(result: Result): string {
  const { row, size, unit, rule, notes, faults } = result
  const word = { times: '×', plus: unit, share: '' }[rule.how]
  const shown = (value: number) =>
    `${rule.how === 'plus' ? signed(value) : round(value)}${word === '×' ? '' : ' '}${word}`.trim()
  const bound = `${rule.how === 'share' ? 'at least' : 'at most'} ${shown(rule.target)}`
  return [
    `${row.padEnd(10)} ${String(size).padStart(6)}  ${shown(result.value)} ` +
      `(${round(result.least)} to ${round(result.most)}; ${bound}): ${result.verdict}`,
    `    ${result.what}: ${round(result.subject)} ${unit}; ${result.floorIs}: ${round(result.floor)} ${unit}`,
    ...Object.entries(notes).map(([name, value]) => `    ${name}: ${round(value)}`),
    ...faults.map((fault) => `    WRONG: ${fault}`),
  ].join('\n')
}

/** What is on top of the floor, or below it. */
export function signed(value: number): string {
  return `${value < 0 ? '–' : '+'} ${round(Math.abs(value))}`
}

export function round(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(digits)
}
