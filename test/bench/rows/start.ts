import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Timed } from '../child.ts'
import { type BenchDaemon, now, type Rig, UNLIMITED } from '../rig.ts'
import { inTurns, type Row } from '../row.ts'

/** The size that design §13 speaks of. */
const SIZE = 100

/** Between two looks. */
const POLL_MS = 5
const LONGEST_MS = 60_000

/** From the start of the process until `/readyz` says so. */
export const start: Row = {
  name: 'start',
  what: 'start with 100 manifests and a ledger on disk, the bundle, until /readyz says so',
  floor: 'Node starting a script that prints one line',
  unit: 'ms',
  rule: { how: 'plus', target: 350, floorThen: 27 },
  onlyAt: (size) => size === SIZE,
  async measure(rig, run) {
    const [floor, subject] = await inTurns(
      run,
      () => emptyScript(rig),
      () => untilReady(rig),
    )
    return {
      floor: floor.wallMs,
      subject: subject.wallMs,
      notes: { 'CPU, plus ms': subject.cpuMs - floor.cpuMs },
      faults: [],
    }
  },
}

async function emptyScript({ work }: Rig): Promise<Timed> {
  const script = join(work, 'empty.mjs')
  writeFileSync(
    script,
    'const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000))',
  )
  const startedAt = now()
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const cpuMs = await new Promise<number>((resolve) => {
    child.stdout.once('data', (text: Buffer) => resolve(Number(text.toString())))
  })
  const wallMs = now() - startedAt
  if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
  return { wallMs, cpuMs }
}

async function untilReady(rig: Rig): Promise<Timed> {
  await rig.platform.reset()
  const startedAt = now()
  await using daemon = await rig.daemon(['--api-budget', UNLIMITED], { probe: 'none' })
  // Each question takes a little of what is measured: none before the log says that it is about to be ready.
  while (!daemon.program.log().some(({ msg }) => msg === 'Manifests read')) await pause(startedAt, daemon)
  while (!(await fetch(`${daemon.url}/readyz`)).ok) await pause(startedAt, daemon)
  const wallMs = now() - startedAt
  return { wallMs, cpuMs: cpuOf(daemon.program.pid) }
}

async function pause(startedAt: number, { program }: BenchDaemon): Promise<void> {
  if (now() - startedAt > LONGEST_MS) throw new Error(`the daemon is not ready: ${program.stdout()}`)
  await setTimeout(POLL_MS)
}

/** CPU time of a process so far, from Linux' own books, which count in steps of 10 ms. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}
