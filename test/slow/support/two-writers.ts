import { rmSync } from 'node:fs'
import { reachedLine } from '../../support/failpoints.ts'
import { furnish, runArgs } from '../../support/manifests.ts'
import { resourcesOf, startProgram, urlOf, type Program, type Shown } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { createWorkspace } from '../../support/workspace.ts'
import { endOf } from './end-of.ts'
import { recordOf } from './ledger.ts'
import { creates } from './creates.ts'
import { startPlatform } from '../../support/platform.ts'

/**
 * A daemon that stands still (a frozen virtual machine, a long stop of the whole process) after it decided to create,
 * and before its intent is written. Meanwhile somebody removes its lock and starts another one on the same ledger,
 * which creates the pipe; then the first goes on. Only the compare-and-set of the ledger is left between it and a POST.
 */
export async function twoWriters() {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  furnish(workspace, 'orders')
  const args = runArgs(workspace, platform.url)

  await using frozen = startProgram(args, { env: { PIPEWRIGHT_FAILPOINT: 'before-intent=pause' } })
  const line = reachedLine({ at: 'before-intent', action: 'pause' })
  await until('the first daemon to stand still', () => frozen.stderr().includes(line))
  rmSync(workspace.path('ledger.db.lock'))
  await using other = startProgram(args)
  await until('the second daemon to create the pipe', async () => (await orders(other))?.status === 'Ready')

  frozen.signal('SIGCONT')
  await until('the first daemon to say what it makes of it', async () => {
    const shown = await orders(frozen)
    return shown?.status === 'Ready' || shown?.status === 'OutcomeUnknown'
  })
  for (const program of [other, frozen]) program.signal('SIGTERM')
  await Promise.all([endOf(other), endOf(frozen)])
  return {
    pipes: platform.pipes().map(({ id }) => id),
    posts: creates(platform),
    recorded: (await recordOf(workspace, 'Pipe/orders'))?.remote?.id,
    output: [other, frozen].flatMap((program) => [program.stdout(), program.stderr()]).join('\n'),
  }
}

async function orders(program: Program): Promise<Shown | undefined> {
  return (await resourcesOf(await urlOf(program))).find(({ key }) => key === 'Pipe/orders')
}
