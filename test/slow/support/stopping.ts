import { type Sandbox } from '../../../src/sandbox/sandbox-server.ts'
import { furnish, pipeManifest, platformArgs } from '../../support/manifests.ts'
import { type Program, resourcesOf, startProgram, urlOf } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { createWorkspace, type Workspace } from '../../support/workspace.ts'
import { endOf } from './end-of.ts'
import { recordOf } from './ledger.ts'
import { startPlatform } from '../../support/platform.ts'

/** A program with a create to stop in the middle of. */
export interface Stopping {
  readonly command: 'run' | 'apply'
  /** How many pipes there are to be created; they are called `p1` and so on. */
  readonly pipes: number
  /** Settings beyond those that say where everything is. */
  readonly settings: readonly string[]
  readonly failpoint?: string
  /** How late the platform answers a create: ms. */
  readonly latencyMs: number
  /** Waits for the moment, then sends what signals it likes. */
  readonly stop: (program: Program, platform: Sandbox) => Promise<void>
}

/** What came of it; of the last pipe, unless said otherwise. */
export interface Stopped {
  readonly ended: number | NodeJS.Signals
  readonly posts: number
  /** At the very end: the work may be done when nobody listens any more. */
  readonly pipes: number
  readonly recorded: string | undefined
  readonly intent: string | undefined
  /** What the next process says of it, and how many creates that one sent. */
  readonly afterwards: { readonly status: string; readonly message: string; readonly posts: number }
  readonly output: string
}

/** Runs the real program, stops it, and starts it again to see what it makes of what was left. */
export async function stopInTheMiddle(stopping: Stopping): Promise<Stopped> {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  furnish(workspace)
  const names = Array.from({ length: stopping.pipes }, (_, index) => `p${index + 1}`)
  for (const name of names) workspace.write(`manifests/${name}.yaml`, pipeManifest(name))
  const last = names.at(-1) ?? ''
  if (stopping.latencyMs > 0) {
    const fault = { type: 'latency', ms: stopping.latencyMs } as const
    platform.faults.add({ operation: 'createPipe', times: 'always', fault })
  }

  await using program = startProgram(
    [stopping.command, ...placeOf(stopping.command, workspace, platform), ...stopping.settings],
    stopping.failpoint === undefined ? {} : { env: { PIPEWRIGHT_FAILPOINT: stopping.failpoint } },
  )
  await stopping.stop(program, platform)
  const ended = await endOf(program)
  const record = await recordOf(workspace, `Pipe/${last}`)
  const posts = creates(platform)
  platform.faults.clear()
  const afterwards = await runAgain(workspace, platform, `Pipe/${last}`)
  return {
    ended,
    posts,
    pipes: platform.pipes().filter(({ name }) => name === last).length,
    recorded: record?.remote?.id,
    intent: record?.intent?.state,
    afterwards,
    output: [program.stdout(), program.stderr()].join('\n'),
  }
}

function placeOf(command: Stopping['command'], workspace: Workspace, platform: Sandbox): readonly string[] {
  const place = platformArgs(workspace, platform.url)
  return command === 'run' ? [...place, '--listen', '127.0.0.1:0'] : place
}

async function runAgain(
  workspace: Workspace,
  platform: Sandbox,
  key: string,
): Promise<Stopped['afterwards']> {
  const before = creates(platform)
  await using program = startProgram([
    'run',
    ...placeOf('run', workspace, platform),
    '--api-budget',
    '1000/1s',
  ])
  const url = await urlOf(program)
  const shown = await until(`${key} to settle`, async () => {
    const found = (await resourcesOf(url)).find((resource) => resource.key === key)
    return found?.status === 'Ready' || found?.status === 'OutcomeUnknown' ? found : undefined
  })
  program.signal('SIGTERM')
  await endOf(program)
  return { status: shown.status, message: shown.message, posts: creates(platform) - before }
}

export function creates(platform: Sandbox): number {
  return platform.requests().filter(({ operation }) => operation === 'createPipe').length
}
