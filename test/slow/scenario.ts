import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import { furnish, pipeManifest, platformArgs, runArgs } from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'
import { liveOf } from '../support/live.ts'
import { startPlatform } from '../support/platform.ts'

/** The real program, a platform, and a folder of manifests, for one story. */
export type Scenario = Awaited<ReturnType<typeof createScenario>>

/** @param of a platform that runs, or the options of one */
export async function createScenario(of: Sandbox | Partial<SandboxOptions> = {}) {
  await using stack = new AsyncDisposableStack()
  const workspace = stack.use(createWorkspace())
  const platform = 'url' in of ? of : stack.use(await startPlatform(of))
  furnish(workspace)
  const programs = stack.use(new AsyncDisposableStack())
  const ledger = workspace.path('ledger.db')
  const kept = stack.move()

  return {
    workspace,
    platform,
    /** Path of the ledger. */
    ledger,
    /** Writes `manifests/<name>.yaml`, a pipe. */
    writePipe: (name: string, options?: Parameters<typeof pipeManifest>[1]) =>
      workspace.write(`manifests/${name}.yaml`, pipeManifest(name, options)),
    /** Starts the daemon; it is killed with the scenario. */
    async start(more: readonly string[] = [], options: Parameters<typeof startProgram>[1] = {}) {
      const program = programs.use(startProgram(runArgs(workspace, platform.url, more), options))
      return liveOf(program, await urlOf(program))
    },
    /** Runs another command to its end, in this process. */
    run: (command: readonly string[], more: readonly string[] = []) =>
      runHere([...command, ...platformArgs(workspace, platform.url), ...more]),
    /** Names in the creates that arrived, in order. */
    creates: () =>
      platform
        .requests()
        .filter(({ operation }) => operation === 'createPipe')
        .map(({ body }) => (body as { name: string }).name), // the sandbox keeps it as it came
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Waits until a reading has found each pipe: only then a 404 says that it is gone. */
export async function eachFound({ platform }: Scenario): Promise<void> {
  await until('each pipe to be found', () => {
    const found = platform
      .requests()
      .filter(({ method, answer }) => method === 'GET' && answer?.status === 200)
    return platform.pipes().every(({ id }) => found.some(({ path }) => path.endsWith(id)))
  })
}
