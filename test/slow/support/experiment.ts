import { reachedLine } from '../../support/failpoints.ts'
import { type Sandbox } from '../../../src/sandbox/sandbox-server.ts'
import { furnish, runArgs } from '../../support/manifests.ts'
import { type Program, resourcesOf, startProgram, urlOf, type Shown } from '../../support/process.ts'
import { startHere } from '../../support/program-here.ts'
import { until } from '../../support/until.ts'
import { createWorkspace, type Workspace } from '../../support/workspace.ts'
import { type Combination, REPLIES } from './combination.ts'
import { recordOf } from './ledger.ts'
import { endOf } from './end-of.ts'
import type { Counts, Facts } from './crash-fate.ts'
import { startPlatform } from '../../support/platform.ts'

/** In the order of their starts: one at a time, so the failpoint that counts is reached by the second. */
const NEIGHBOUR = 'a-neighbour'
const VICTIM = 'orders'

/** What a run came to, and everything that was logged, for whoever has to find out why. */
export interface Experiment {
  readonly facts: Facts
  readonly log: string
}

/**
 * Runs the real program with the failpoint against a platform with the fault, until its create is over one way or the
 * other; then, without either, until all is quiet; and counts.
 */
export async function experiment(combination: Combination): Promise<Experiment> {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  furnish(workspace, NEIGHBOUR, VICTIM)

  const first = await runWithFailpoint(combination, { workspace, platform })
  const postsBefore = postsFor(platform, VICTIM).length
  platform.faults.clear()
  const last = await runUntilQuiet({ workspace, platform })

  const counts = async (name: string): Promise<Counts> => {
    const posts = postsFor(platform, name)
    const record = await recordOf(workspace, `Pipe/${name}`)
    const shown = last.shown.find(({ key }) => key === `Pipe/${name}`)
    return {
      pipes: platform.pipes().flatMap((pipe) => (pipe.name === name ? [pipe.id] : [])),
      posts: posts.length,
      worked: posts.filter(({ answer }) => answer?.done === true).length,
      postsAfterRestart: name === VICTIM ? posts.length - postsBefore : 0,
      recorded: record?.remote?.id,
      intentId: record?.intent?.id,
      status: shown?.status ?? 'not shown',
      message: shown?.message ?? '',
    }
  }
  const facts: Facts = {
    reached: first.reached,
    ended: first.ended,
    endedAfterwards: last.ended,
    victim: await counts(VICTIM),
    neighbour: await counts(NEIGHBOUR),
    postsOnceQuiet: last.postsOnceQuiet,
  }
  return { facts, log: [...first.output, ...last.output].join('\n') }
}

interface Place {
  readonly workspace: Workspace
  readonly platform: Sandbox
}

/** A request ends in time, unless it hangs: then it is not waited for. */
const PATIENT_MS = 20_000
const HANGING_MS = 2_500

function argsOf({ workspace, platform }: Place, timeoutMs: number): readonly string[] {
  const grace = `${timeoutMs + 5_000}ms`
  const limits = ['--request-timeout', `${timeoutMs}ms`, '--shutdown-grace', grace, '--concurrency', '1']
  return runArgs(workspace, platform.url, [...limits, '--log-level', 'debug'])
}

async function runWithFailpoint(combination: Combination, place: Place) {
  const { at, action, reply } = combination
  const { fault } = REPLIES[reply]
  if (fault !== undefined) {
    place.platform.faults.add({ operation: 'createPipe', subject: VICTIM, times: 'always', fault })
  }
  const args = argsOf(place, reply === 'hang' ? HANGING_MS : PATIENT_MS)
  await using program = startProgram(args, { env: { PIPEWRIGHT_FAILPOINT: `${at}=${action}@2` } })
  const end = { seen: false }
  void program.ended.finally(() => {
    end.seen = true
  })
  try {
    await until('the create to be over', () => end.seen || isOver(program, combination))
  } catch (error) {
    throw new Error(outputOf('with the failpoint', program).join('\n'), { cause: error })
  }
  program.signal('SIGTERM')
  if (action === 'disk-full') {
    await until('the stop', () => end.seen || program.log().some(({ msg }) => msg === 'Stopping'))
    program.signal('SIGTERM') // the first one waits for a disk that has room again
  }
  return {
    ended: await endOf(program),
    reached: program.stderr().includes(reachedLine({ at, action })),
    output: outputOf('with the failpoint', program),
  }
}

/** Whether the process has nothing more to say about the victim's create, but to try it again. */
function isOver(program: Program, { reply }: Combination): boolean {
  const refused = REPLIES[reply].tells.startsWith('that it was refused')
  return program.log().some(({ msg, key, outcome, reason, detail }) => {
    if (msg === 'Internal error') return String(detail).includes(`Pipe/${VICTIM}`)
    if (key !== `Pipe/${VICTIM}`) return false
    if (msg === 'Create finished') return outcome !== 'failed' || refused
    return msg === 'Reconciled' && reason === 'LedgerFailed'
  })
}

/** Runs the program until both pipes have settled, lets it look at everything once more, and ends it. */
async function runUntilQuiet(place: Place) {
  await using program = startHere(argsOf(place, PATIENT_MS))
  try {
    const url = await urlOf(program)
    const settled = await until('both pipes to settle', async () => {
      const pipes = (await resourcesOf(url)).filter(({ key }) => key.startsWith('Pipe/'))
      return pipes.length === 2 && pipes.every(isSettled) && pipes
    })
    const before = postsOf(place.platform).length
    program.signal('SIGHUP')
    const shown = await until('another look at both', async () => {
      const pipes = (await resourcesOf(url)).filter(({ key }) => key.startsWith('Pipe/'))
      return (
        pipes.every(
          (pipe) => observationOf(pipe) > observationOf(settled.find(({ key }) => key === pipe.key)),
        ) && pipes
      )
    })
    program.signal('SIGTERM')
    const ended = await endOf(program)
    const postsOnceQuiet = postsOf(place.platform).length - before
    return { shown, ended, postsOnceQuiet, output: outputOf('afterwards', program) }
  } catch (error) {
    throw new Error(outputOf('afterwards', program).join('\n'), { cause: error })
  }
}

function isSettled({ status }: Shown): boolean {
  return status === 'Ready' || status === 'OutcomeUnknown'
}

function observationOf(shown: Shown | undefined): number {
  return shown?.lastReconciledAt ?? 0
}

function postsOf(platform: Sandbox) {
  return platform.requests().filter(({ operation }) => operation === 'createPipe')
}

function postsFor(platform: Sandbox, name: string) {
  return postsOf(platform).filter(({ body }) => JSON.stringify(body).includes(`"name":"${name}"`))
}

function outputOf(title: string, program: Program): readonly string[] {
  return [`--- ${title}: stdout`, program.stdout(), `--- ${title}: stderr`, program.stderr()]
}
