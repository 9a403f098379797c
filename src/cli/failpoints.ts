import { writeSync } from 'node:fs'
import type { SettingProblem } from '../config/setting-problem.ts'
import type { Emit } from '../contract/events.ts'
import { type Fail, type Failpoint, FAILPOINT_VARIABLE, FAILPOINTS } from '../contract/failpoint.ts'

/*
 * Failpoints in the real process, for tests: PIPEWRIGHT_FAILPOINT=NAME=ACTION[@N] fails the N-th time (the first,
 * unless told) that NAME is reached, in this process and no other.
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
export const FAILPOINT_ACTIONS = ['kill', 'throw', 'disk-full', 'disk-slow', 'hang', 'pause'] as const

export type FailpointAction = (typeof FAILPOINT_ACTIONS)[number]

export interface FailpointPlan {
  readonly at: Failpoint
  readonly action: FailpointAction
  /** From 1: the time at which it is reached that counts. */
  readonly nth: number
}

/** What the parts of the process are given. */
export interface Failpoints {
  readonly fail: Fail
  /** Called in each transaction of the ledger, before it is committed. @throws as SQLite does on a full disk */
  readonly beforeCommit: () => void
}

const SLOW_MS = 300
const SQLITE_FULL = 13

type Environment = Readonly<Record<string, string | undefined>>

/** What the variable asks for: nothing when it is not set, or a fault when nobody knows what. */
export function failpointPlan(
  env: Environment,
): FailpointPlan | { readonly fault: SettingProblem } | undefined {
  const text = env[FAILPOINT_VARIABLE]?.trim() ?? ''
  if (text === '') return undefined
  const [, name, word, count] = /^([a-z-]+)=([a-z-]+)(?:@([1-9]\d{0,5}))?$/.exec(text) ?? []
  const at = FAILPOINTS.find((known) => known === name)
  const action = FAILPOINT_ACTIONS.find((known) => known === word)
  if (at !== undefined && action !== undefined) return { at, action, nth: Number(count ?? 1) }
  const fault = {
    setting: undefined,
    from: FAILPOINT_VARIABLE,
    given: text,
    why: 'it is not NAME=ACTION or NAME=ACTION@N',
    right: `remove it: it is for tests of Pipewright alone; a NAME is one of ${FAILPOINTS.join(', ')}, and an ACTION one of ${FAILPOINT_ACTIONS.join(', ')}`,
  }
  return { fault }
}

/** The fault of the variable, to be reported with those of the settings. */
export function failpointFaults(env: Environment): readonly SettingProblem[] {
  const plan = failpointPlan(env)
  return plan !== undefined && 'fault' in plan ? [plan.fault] : []
}

/** The failpoint of this process, named in the log; `undefined`, nearly always: there is none. */
export function failpointsOf(env: Environment, emit: Emit): Failpoints | undefined {
  const plan = failpointPlan(env)
  if (plan === undefined || 'fault' in plan) return undefined // a fault was reported with those of the settings
  emit({ type: 'FailpointSet', failpoint: `${plan.at}=${plan.action}@${plan.nth}` })
  return createFailpoints(plan)
}

function createFailpoints(plan: FailpointPlan): Failpoints {
  let reached = 0
  let disk: 'well' | 'slow' | 'full' = 'well'

  /** Everything up to the first wait happens at once: a process that is killed does nothing more. */
  async function fail(at: Failpoint): Promise<void> {
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
