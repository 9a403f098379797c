import { reachedLine } from '../../support/failpoints.ts'
import type { LedgerRecord } from '../../../src/plan/record.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox-server.ts'
import type { PipeInSandbox, RecordedRequest } from '../../../src/sandbox/stored.ts'
import { mountSecrets, runArgs, SERVICE } from '../../support/manifests.ts'
import { type Program, resourcesOf, startProgram, urlOf, type Shown } from '../../support/process.ts'
import { startHere } from '../../support/program-here.ts'
import { until } from '../../support/until.ts'
import { createWorkspace, type Workspace } from '../../support/workspace.ts'
import { type ChangeCell, type ChangeStory, STORIES, VICTIM } from './change-cells.ts'
import { endOf } from './end-of.ts'
import { recordOf } from './ledger.ts'
import { startPlatformOf } from './matrix-profile.ts'

/** What a run of the real program came to. */
export interface ChangeFacts {
  readonly reached: boolean
  readonly ended: number | NodeJS.Signals
  readonly endedAfterwards: number | NodeJS.Signals
  readonly pipes: readonly PipeInSandbox[]
  /** Every request that writes, in the order of their arrival. */
  readonly writes: readonly RecordedRequest[]
  readonly writesOnceQuiet: number
  readonly shown: Shown | undefined
  readonly record: LedgerRecord | undefined
}

const KEY = `Pipe/${VICTIM}`
const READS: readonly (string | undefined)[] = ['getPipe', 'listPipes']

/** A pipe that is there; an edit during which the program fails; and another one that comes after it, until all is quiet. */
export async function changeExperiment(
  cell: ChangeCell,
): Promise<{ readonly facts: ChangeFacts; readonly log: string }> {
  const story: ChangeStory = STORIES[cell.story]
  using workspace = createWorkspace()
  await using platform = await startPlatformOf('clickhouse-cloud')
  mountSecrets(workspace)
  workspace.write('manifests/service.yaml', SERVICE)
  workspace.write(`manifests/${VICTIM}.yaml`, story.before)
  const place = { workspace, platform }
  const created = await runUntilQuiet(place, 'at first')

  workspace.write(`manifests/${VICTIM}.yaml`, story.after)
  platform.faults.add(...(story.faults ?? []))
  const failed = await runWithFailpoint(cell, place)
  platform.faults.clear()
  workspace.write(`manifests/${VICTIM}.yaml`, story.afterwards ?? story.after)
  const last = await runUntilQuiet(place, 'afterwards')
  return {
    facts: {
      reached: failed.reached,
      ended: failed.ended,
      endedAfterwards: last.ended,
      pipes: platform.pipes(),
      writes: writesOf(platform),
      writesOnceQuiet: last.writesOnceQuiet,
      shown: last.shown,
      record: await recordOf(workspace, KEY),
    },
    log: [...created.output, ...failed.output, ...last.output].join('\n'),
  }
}

interface Place {
  readonly workspace: Workspace
  readonly platform: Sandbox
}

function argsOf({ workspace, platform }: Place): readonly string[] {
  const more = ['--profile', 'clickhouse-cloud', '--log-level', 'debug']
  return runArgs(workspace, platform.url, more)
}

async function runWithFailpoint({ at, nth, action }: ChangeCell, place: Place) {
  const env = { PIPEWRIGHT_FAILPOINT: `${at}=${action}@${nth}` }
  await using program = startProgram(argsOf(place), { env })
  const end = { seen: false }
  void program.ended.finally(() => {
    end.seen = true
  })
  try {
    const isBug = () => program.log().some(({ msg }) => msg === 'Internal error')
    await until('the change to fail', () => end.seen || isBug(), 60_000)
  } catch (error) {
    throw new Error(outputOf('with the failpoint', program).join('\n'), { cause: error })
  }
  program.signal('SIGTERM')
  return {
    ended: await endOf(program),
    reached: program.stderr().includes(reachedLine({ at, action })),
    output: outputOf('with the failpoint', program),
  }
}

/** A stop that was noted and perhaps never sent is waited for a minute, and one that was sent may be waited for as long. */
const SETTLES_WITHIN_MS = 240_000

/** Runs the program until the pipe has settled, lets it look once more, and ends it. */
async function runUntilQuiet(place: Place, title: string) {
  const { platform } = place
  await using program = startHere(argsOf(place))
  const startedAt = Date.now()
  try {
    const url = await urlOf(program)
    const settled = await until(
      'the pipe to settle',
      async () => settledSince(await victim(url), startedAt),
      SETTLES_WITHIN_MS,
    )
    const before = writesOf(platform).length
    program.signal('SIGHUP')
    const shown = await until('another look at it', async () => {
      return settledSince(await victim(url), (settled.lastReconciledAt ?? 0) + 1)
    })
    program.signal('SIGTERM')
    const ended = await endOf(program)
    return {
      shown,
      ended,
      writesOnceQuiet: writesOf(platform).length - before,
      output: outputOf(title, program),
    }
  } catch (error) {
    const writes = writesOf(platform).map(({ operation, body, answer }) => ({ operation, body, answer }))
    throw new Error([...outputOf(title, program), JSON.stringify(writes)].join('\n'), { cause: error })
  }
}

async function victim(url: string): Promise<Told | undefined> {
  const all = (await resourcesOf(url)) as readonly Told[] // the API says more
  return all.find(({ key }) => key === KEY)
}

/** What the API says besides. */
type Told = Shown & { readonly conditions: { readonly Synced: { readonly status: string } } }

/** What was known at the start is of the process before. */
function settledSince(shown: Told | undefined, since: number): Told | undefined {
  if (shown === undefined || (shown.lastReconciledAt ?? 0) < since) return undefined
  return shown.status === 'Ready' && shown.conditions.Synced.status === 'True' ? shown : undefined
}

function writesOf(platform: Sandbox): readonly RecordedRequest[] {
  return platform.requests().filter(({ operation }) => !READS.includes(operation))
}

function outputOf(title: string, program: Program): readonly string[] {
  return [`--- ${title}: stdout`, program.stdout(), `--- ${title}: stderr`, program.stderr()]
}
