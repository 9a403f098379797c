import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { readOptions } from './options.ts'
import { asText, isBad, type Result, resultOf, thisMachine } from './report.ts'
import { createRig, type Rig } from './rig.ts'
import type { Measured, Row } from './row.ts'
import { budget } from './rows/budget.ts'
import { change } from './rows/change.ts'
import { hostile } from './rows/hostile.ts'
import { load } from './rows/load.ts'
import { memory } from './rows/memory.ts'
import { pass, passAway } from './rows/pass.ts'
import { reload } from './rows/reload.ts'
import { start } from './rows/start.ts'
import { terraformApply, terraformPlan } from './rows/terraform.ts'
import { validate } from './rows/validate.ts'

/*
 * npm run bench -- [--sizes 100,1000,10000] [--rows load,pass] [--runs 5] [--json FILE] [--short]
 *
 * The table of design §13: each row against its floor, which is taken in the same run, beside it. Ends with 1 when a row is
 * worse than twice its target, or when something was seen that must never be, such as a write in a pass over what is in sync.
 * With --short, times are only shown: on a machine that others use too, they say more about the others.
 */

const ROWS: readonly Row[] = [
  load,
  reload,
  pass,
  passAway,
  change,
  budget,
  memory,
  start,
  validate,
  hostile,
  terraformApply,
  terraformPlan,
]

const options = readOptions(
  process.argv.slice(2),
  ROWS.map((row) => row.name),
)
const machine = thisMachine()
const results: Result[] = []

await using stack = new AsyncDisposableStack()
const rigs = new Map<number, Rig>()
async function rigOf(size: number): Promise<Rig> {
  const known = rigs.get(size)
  if (known !== undefined) return known
  print(`# ${size} manifests: writing them, and settling a ledger`)
  const rig = stack.use(await createRig(size))
  rigs.set(size, rig)
  return rig
}

print(
  `# ${machine.cores} cores, ${machine.memoryGb} GB, ${machine.platform}, Node ${machine.node}; ${options.runs} runs`,
)
for (const size of options.sizes) {
  for (const row of ROWS) {
    if (options.rows.length > 0 && !options.rows.includes(row.name)) continue
    if (options.rows.length === 0 && row.onlyNamed === true) continue
    if (options.isShort && size < (row.heldFrom ?? 0)) continue
    if (row.onlyAt?.(size, options.sizes) === false) continue
    const lacking = row.needs?.find((command) => !isThere(command))
    if (lacking !== undefined) {
      print(`${row.name.padEnd(10)} ${String(size).padStart(6)}  skipped: no ${lacking}`)
      continue
    }
    const rig = await rigOf(size)
    const measured: Measured[] = []
    const runs = Math.min(options.runs, row.runs ?? options.runs)
    for (let run = 0; run < runs; run += 1) measured.push(await row.measure(rig, run, rigOf))
    const result = resultOf(row, size, measured)
    results.push(result)
    print(asText(result))
    save()
  }
}
process.exitCode = results.some((result) => isBad(result, options)) ? 1 : 0

/** Whether a command can be started, whatever it says to this. */
function isThere(command: string): boolean {
  return spawnSync(command, ['-h'], { stdio: 'ignore' }).error === undefined
}

/** After each row, so that a run that is ended early leaves what it has. */
function save(): void {
  if (options.json === undefined) return
  const report = { measuredAt: new Date().toISOString().slice(0, 10), machine, runs: options.runs, results }
  writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
