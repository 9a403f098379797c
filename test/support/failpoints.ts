import { writeSync } from 'node:fs'
import { type CreateFailpoint, type Failpoints, CREATE_FAILPOINTS } from '../../src/contract/failpoint.ts'

/*
 * Failpoints of a process of the program, which loads this file before it: PIPEWRIGHT_FAILPOINT=NAME=ACTION[@N] fails the
 * N-th time (default: the first) that NAME is reached.
 *
 * | ACTION    | what happens there                                                     |
 * |-----------|------------------------------------------------------------------------|
 * | kill      | the process is killed (SIGKILL)                                        |
 * | throw     | an error is thrown                                                     |
 * | disk-full | from then on, every write of the ledger fails, as SQLite's on a full disk |
 * | disk-slow | from then on, every write of the ledger takes 300 ms more              |
 * | hang      | it goes no further, until the process ends                             |
 * | pause     | the whole process stands still (SIGSTOP), until SIGCONT                |
 */
export const FAILPOINT_VARIABLE = 'PIPEWRIGHT_FAILPOINT'

const FAILPOINT_ACTIONS = ['kill', 'throw', 'disk-full', 'disk-slow', 'hang', 'pause'] as const

export type FailpointAction = (typeof FAILPOINT_ACTIONS)[number]

interface FailpointPlan {
  readonly at: CreateFailpoint
  readonly action: FailpointAction
  /** From 1: the time at which it is reached that counts. */
  readonly nth: number
}

const SLOW_MS = 300
const SQLITE_FULL = 13

/** @throws on a text that names no failpoint or no action */
export function failpointPlan(text: string): FailpointPlan {
  const [, name, word, count] = /^([a-z-]+)=([a-z-]+)(?:@([1-9]\d{0,5}))?$/.exec(text) ?? []
  const at = CREATE_FAILPOINTS.find((known) => known === name)
  const action = FAILPOINT_ACTIONS.find((known) => known === word)
  if (at === undefined || action === undefined)
    throw new Error(`${FAILPOINT_VARIABLE} is "${text}", and not NAME=ACTION or NAME=ACTION@N`)
  return { at, action, nth: Number(count ?? 1) }
}

export function createFailpoints(plan: FailpointPlan): Failpoints {
  let reached = 0
  let disk: 'well' | 'slow' | 'full' = 'well'

  /** Everything up to the first wait happens at once: a process that is killed does nothing more. */
  async function fail(at: CreateFailpoint): Promise<void> {
    if (at !== plan.at) return
    reached += 1
    if (reached !== plan.nth) return
    // Past all buffers: a killed process writes no more.
    writeSync(2, `${reachedLine(plan)}\n`)
    switch (plan.action) {
      case 'kill':
        process.kill(process.pid, 'SIGKILL')
        return
      case 'throw':
        throw new Error(`the failpoint ${at} was asked for`)
      case 'disk-full':
        disk = 'full'
        return
      case 'disk-slow':
        disk = 'slow'
        return
      case 'pause':
        process.kill(process.pid, 'SIGSTOP')
        return
      case 'hang':
        // The timer keeps the process alive, as a socket that hangs would.
        await new Promise<never>(() => setInterval(() => undefined, 60_000))
    }
  }

  function beforeCommit(): void {
    // As a slow disk does: SQLite writes synchronously, so the whole process waits.
    if (disk === 'slow') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SLOW_MS)
    if (disk === 'full') {
      throw Object.assign(new Error('database or disk is full'), { errcode: SQLITE_FULL })
    }
  }

  return { fail, beforeCommit }
}

/** The line on stderr by which a test knows that a failpoint was reached. */
export function reachedLine({ at, action }: Pick<FailpointPlan, 'at' | 'action'>): string {
  return `failpoint ${at} reached: ${action}`
}

const asked = process.env[FAILPOINT_VARIABLE]
if (asked !== undefined) {
  delete process.env[FAILPOINT_VARIABLE] // the program knows no such variable
  Object.assign(globalThis, { pipewrightFailpoints: createFailpoints(failpointPlan(asked)) })
}
