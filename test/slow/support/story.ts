import {
  ANALYTICS,
  CREDENTIAL,
  mountCredential,
  mountSecrets,
  pipeManifest,
  type PipeOptions,
  platformArgs,
  runArgs,
  serviceManifest,
  type ServiceOptions,
} from '../../support/manifests.ts'
import { runProgram, startProgram, urlOf, type Program, type ProgramOptions } from '../../support/process.ts'
import type { Workspace } from '../../support/workspace.ts'
import { createWorkspace } from '../../support/workspace.ts'
import { createFakePlatform, type FakePlatform, type FakePlatformOptions } from './fake-platform.ts'
import { liveOf, type Live } from '../../support/live.ts'

/* The real program, a fake platform and a folder of manifests, for one story; looked at from outside only. */

/** How the clocks of a program go; each as those of the machine unless given. */
export interface Clocks {
  /** The wall clock is so far ahead: ms. */
  readonly aheadMs?: number
  /** All clocks and timers are so many times as fast. */
  readonly speed?: number
}

export type StartOptions = Clocks & Pick<ProgramOptions, 'env' | 'through'>

export interface StoryOptions extends Omit<FakePlatformOptions, 'services'> {
  /** Another `main.ts` than that of this checkout. */
  readonly main?: string
}

export interface Story extends AsyncDisposable {
  readonly workspace: Workspace
  readonly platform: FakePlatform
  /** Path of the ledger. */
  readonly ledger: string
  writePipe(key: string, options?: PipeOptions): void
  writeService(service: ServiceOptions): void
  /** Starts the daemon; it is killed with the story. */
  start(more?: readonly string[], options?: StartOptions): Promise<Live>
  /** Creates these pipes, as they were an hour ago, and ends in good order. */
  created(keys: readonly string[], more?: readonly string[]): Promise<void>
  /** Starts `apply`; it is killed with the story. */
  apply(more?: readonly string[]): Program
  /** Runs another command to its end. */
  run(command: readonly string[], options?: StartOptions): ReturnType<typeof runProgram>
  /** Puts the wall clock of daemons that were started with `aheadMs` so far ahead of the machine's. */
  shiftClock(aheadMs: number): void
}

const CLOCKS = new URL('../clock-shift.ts', import.meta.url).href
const HOUR_MS = 3_600_000

/** The id of the key in a mounted secret. */
export function keyIdOf(secret: string): string {
  return secret === ANALYTICS.secret ? CREDENTIAL.keyId : `key-id-of-${secret}`
}

export async function createStory(
  services: readonly ServiceOptions[] = [ANALYTICS],
  { main, ...options }: StoryOptions = {},
): Promise<Story> {
  await using stack = new AsyncDisposableStack()
  const workspace = stack.use(createWorkspace())
  const served = services.map(({ serviceId, secret }) => ({ serviceId, keyIds: [keyIdOf(secret)] }))
  const platform = stack.use(await createFakePlatform({ ...options, services: served }))
  const programs = stack.use(new AsyncDisposableStack())
  mountSecrets(workspace)
  for (const { secret } of services) {
    mountCredential(workspace, secret, { keyId: keyIdOf(secret), keySecret: `planted-secret-of-${secret}` })
  }
  const program = main === undefined ? {} : { main }
  let clocks = 0

  /** Node's options for a program with these clocks; what it reads the shift from is `file`. */
  function clockEnv({ aheadMs, speed = 1 }: Clocks, file: string): Readonly<Record<string, string>> {
    if (aheadMs === undefined && speed === 1) return {}
    if (aheadMs !== undefined) workspace.write(file, String(aheadMs))
    const shift = aheadMs === undefined ? {} : { CLOCK_SHIFT_FILE: workspace.path(file) }
    return { NODE_OPTIONS: `--import=${CLOCKS}`, CLOCK_SPEED: String(speed), ...shift }
  }

  function writeService(service: ServiceOptions): void {
    workspace.write(`manifests/service-${service.name}.yaml`, serviceManifest(service))
  }

  async function start(
    more: readonly string[] = [],
    { env, through, ...clock }: StartOptions = {},
  ): Promise<Live> {
    const started = programs.use(
      startProgram(runArgs(workspace, platform.url, more), {
        ...program,
        env: { ...clockEnv(clock, 'clock'), ...env },
        ...(through === undefined ? {} : { through }),
      }),
    )
    return liveOf(started, await urlOf(started))
  }

  for (const service of services) writeService(service)
  const kept = stack.move()
  return {
    workspace,
    platform,
    ledger: workspace.path('ledger.db'),
    writePipe: (key, pipe) => workspace.write(`manifests/${key}.yaml`, pipeManifest(key, pipe)),
    writeService,
    start,
    apply: (more = []) =>
      programs.use(startProgram(['apply', ...platformArgs(workspace, platform.url), ...more], program)),
    async created(keys, more = []) {
      const live = await start(more, { aheadMs: -HOUR_MS })
      for (const key of keys) await live.says(`Pipe/${key}`, 'Ready', 60_000)
      await live.stop()
      for (const pipe of platform.world.pipes) {
        pipe.createdAt = new Date(Date.parse(pipe.createdAt) - HOUR_MS).toISOString()
      }
    },
    run(command, { env, through, ...clock } = {}) {
      clocks += 1
      return runProgram([...command, ...platformArgs(workspace, platform.url)], {
        ...program,
        env: { ...clockEnv(clock, `clock-${clocks}`), ...env },
        ...(through === undefined ? {} : { through }),
      })
    },
    shiftClock: (aheadMs) => workspace.write('clock', String(aheadMs)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
