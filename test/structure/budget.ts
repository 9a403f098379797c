import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { measureRepository } from './measure.ts'

/* `npm run budget` prints the table; `npm run budget -- --lower` writes lower limits. A limit never rises by itself. */

type Numbers = Readonly<Record<string, number>>

/** One line for each measurement that breaks the budget. */
export function overBudget(measured: Numbers, limits: Numbers): readonly string[] {
  const over = Object.entries(measured).flatMap(([name, value]) => {
    const limit = limits[name]
    if (limit === undefined) return [`${name}: ${value}, no limit`]
    return value > limit ? [`${name}: ${value}, limit ${limit}`] : []
  })
  const gone = Object.keys(limits).filter((name) => !Object.hasOwn(measured, name))
  return [...over, ...gone.map((name) => `${name}: no longer measured, delete its limit`)]
}

export function budgetTable(measured: Numbers, limits: Numbers): string {
  const rows = Object.entries(measured).map(([name, value]) =>
    [name.padEnd(40), String(value).padStart(9), String(limits[name] ?? '–').padStart(9)].join(' '),
  )
  return [`${'budget'.padEnd(40)} ${'now'.padStart(9)} ${'limit'.padStart(9)}`, ...rows].join('\n')
}

/** The measured numbers, where they are lower than the limits; folders that are gone lose their rows. */
function lowered(measured: Numbers, limits: Numbers): Numbers {
  return Object.fromEntries(
    Object.entries(measured).map(([name, value]) => [name, Math.min(value, limits[name] ?? value)]),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = new URL('budget.json', import.meta.url)
  const limits = JSON.parse(readFileSync(file, 'utf8')) as Numbers
  const measured = measureRepository()
  process.stdout.write(`${budgetTable(measured, limits)}\n`)
  if (process.argv.includes('--lower'))
    writeFileSync(file, `${JSON.stringify(lowered(measured, limits), undefined, 2)}\n`)
}
