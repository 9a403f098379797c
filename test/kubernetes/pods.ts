import { startProgram, type Program } from '../support/process.ts'
import { until } from '../support/until.ts'
import type { Workspace } from '../support/workspace.ts'
import { startCutProxy, type CutProxy } from './cut-proxy.ts'
import { writeKubeconfig, type Place } from './open-at.ts'

/** A process that works with a ledger in a cluster, beside others. */
export interface Pod {
  readonly name: string
  program: Program
  readonly toApi: CutProxy
  readonly toPlatform: CutProxy
  /** Starts it again, once it has ended. */
  again(): Promise<void>
}

export interface PodsOptions {
  readonly workspace: Workspace
  readonly api: Place
  readonly platform: string
  readonly leaseMs: number
  /** Flag → value, beside what all have. */
  readonly settings?: Readonly<Record<string, string>>
  /** Variables of each start. */
  readonly env?: Readonly<Record<string, string>>
}

export { furnish as writeCommon } from '../support/manifests.ts'

export const LEDGER = 'pods'

/** Flags of a command beside them. @param more flag → value */
export function commandFlagsOf(
  { workspace, platform }: Pick<PodsOptions, 'workspace' | 'platform'>,
  more: Readonly<Record<string, string>> = {},
): readonly string[] {
  const all = {
    'base-url': platform,
    manifests: workspace.manifests,
    'credentials-dir': workspace.credentials,
    'secrets-dir': workspace.secrets,
    ledger: `kubernetes:${LEDGER}`,
    ...more,
  }
  return [...Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]), '--allow-insecure-http']
}

function flagsOf({ workspace, leaseMs, settings }: PodsOptions, platform: string): readonly string[] {
  const limits = {
    'api-budget': '1000/1s',
    'max-creates': '100000',
    'request-timeout': '2s',
    'shutdown-grace': '5s',
  }
  const run = { 'lease-duration': `${leaseMs}ms`, listen: '127.0.0.1:0', ...limits, ...settings }
  return commandFlagsOf({ workspace, platform }, run)
}

/** Starts one, which ends with the stack. @param env further variables of its first start */
export async function startPod(
  name: string,
  options: PodsOptions,
  stack: AsyncDisposableStack,
  env: Readonly<Record<string, string>> = {},
): Promise<Pod> {
  const { workspace, api, platform } = options
  const toApi = stack.use(await startCutProxy(api.url))
  const toPlatform = stack.use(await startCutProxy(platform))
  const KUBECONFIG = writeKubeconfig({ ...api, url: toApi.url }, workspace, `${name}.kubeconfig`)
  const start = (more: Readonly<Record<string, string>>) =>
    startProgram(['run', ...flagsOf(options, toPlatform.url)], {
      env: { KUBECONFIG, ...options.env, ...more },
    })
  const pod: Pod = {
    name,
    toApi,
    toPlatform,
    program: start(env),
    async again() {
      await pod.program.ended
      pod.program = start({})
    },
  }
  stack.defer(() => pod.program[Symbol.asyncDispose]())
  return pod
}

/** The last epoch in which it has begun to act. */
export function epochOf({ program }: Pod): number | undefined {
  const acting = program.log().findLast(({ msg, is }) => msg === 'Leadership changed' && is === 'acting')
  return acting?.['epoch'] as number | undefined // as the log says it
}

/** @throws when it ends before it has acted, with all that it said */
export async function acts(pod: Pod): Promise<number> {
  const { program } = pod
  const ended = program.ended.then((code) => {
    const epoch = epochOf(pod)
    if (epoch !== undefined) return epoch
    throw new Error(`${pod.name} ended with ${code}, and did not act\n${program.stdout()}${program.stderr()}`)
  })
  return Promise.race([until(`${pod.name} to act`, () => epochOf(pod)), ended])
}

export function passes(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
