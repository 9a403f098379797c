import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { now, type Rig, UNLIMITED } from '../rig.ts'
import { inTurns, type Row } from '../row.ts'

/** The size that design §13 speaks of. */
const SIZE = 100

/** From the start of the process until `/readyz` says so. */
export const start: Row = {
  name: 'start',
  what: 'start with 100 manifests and a ledger on disk, until /readyz says so',
  floor: 'Node starting a script that prints one line',
  unit: 'ms',
  rule: { how: 'plus', target: 400 },
  onlyAt: (size) => size === SIZE,
  async measure(rig, run) {
    const [floor, subject] = await inTurns(
      run,
      () => emptyScript(rig),
      () => untilReady(rig),
    )
    return { floor, subject, notes: {}, faults: [] }
  },
}

async function emptyScript({ work }: Rig): Promise<number> {
  const script = join(work, 'empty.mjs')
  writeFileSync(script, "process.stdout.write('here\\n')\n")
  const startedAt = now()
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
  const took = now() - startedAt
  if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
  return took
}

async function untilReady(rig: Rig): Promise<number> {
  await rig.platform.reset()
  const startedAt = now()
  await using daemon = await rig.daemon(['--api-budget', UNLIMITED], { probe: 'none' })
  while (!(await fetch(`${daemon.url}/readyz`)).ok) await setTimeout(2)
  return now() - startedAt
}
