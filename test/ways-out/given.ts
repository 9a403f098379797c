import type { SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { runHere } from '../support/command.ts'
import {
  furnish,
  ORGANIZATION,
  OTHER_SERVICE_ID,
  pipeManifest,
  platformArgs,
  runArgs,
  SERVICE_ID,
} from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { type Shown, urlOf } from '../support/process.ts'
import { startHere } from '../support/program-here.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { createWorkspace } from '../support/workspace.ts'

/** Commands in this process, with a folder of their own, against a platform in this process. */
export type Given = Awaited<ReturnType<typeof given>>

interface StatusShown extends Shown {
  readonly conditions: Readonly<Record<'Valid' | 'Synced' | 'Ready', object>>
  readonly intent?: { readonly id: string; readonly state: string }
}

/** A pipe with what a step of a story says of it. @param fields with their values; policies as `policy.adopt` */
export type ManifestOf = (name: string, fields: ReadonlyMap<string, string>) => string

const SERVICES = [SERVICE_ID, OTHER_SERVICE_ID].map((serviceId) => ({
  organizationId: ORGANIZATION,
  serviceId,
}))

/** @param names a pipe of each, in a file of its own */
export async function given(
  names: readonly string[],
  { fixture, ...options }: Partial<SandboxOptions> = {},
  manifestOf: ManifestOf = pipeOf,
) {
  await using stack = new AsyncDisposableStack()
  const workspace = stack.use(createWorkspace())
  furnish(workspace)
  for (const name of names) workspace.write(`manifests/${name}.yaml`, manifestOf(name, new Map()))
  const platform = stack.use(await startPlatform({ ...options, fixture: { services: SERVICES, ...fixture } }))
  const profile = options.profile === undefined ? [] : ['--profile', options.profile.name]
  const flags = ['', ...platformArgs(workspace, platform.url), '--api-budget', '1000/1s', ...profile]
  // Variables, because a suggested command repeats flags. An empty one is unset.
  const valueOf = (flag: string) => flags[flags.indexOf(`--${flag}`) + 1] ?? ''
  const env = Object.fromEntries(SETTINGS.map(({ flag, env: name }) => [name, valueOf(flag)]))
  const clock = stack.use(createTurningClock())
  const commandUntil = (stopping: AbortSignal, name = '', ...args: readonly string[]) =>
    runHere([name, ...args], env, { clock, stopping })
  const command = (...args: readonly string[]) => commandUntil(new AbortController().signal, ...args)
  let url = ''
  const resources = stack.move()
  return {
    workspace,
    platform,
    manifestOf,
    command,
    /** The same, which is stopped by a signal. */
    commandUntil,
    /** The output of the last command of a story, and how many requests it has looked at. */
    told: { last: '', requests: 0 },
    /** Ends with the id of the pipe that the platform has under a name. */
    pipeId: (name: string) => platform.pipes().find((pipe) => pipe.name === name)?.id ?? `no pipe ${name}`,
    /** POSTs that reached the platform. */
    posts: () => platform.requests().filter(({ method }) => method === 'POST').length,
    /** What the ledger says of one key, as `status` tells it. */
    status: async (key: string) => {
      const { stdout } = await command('status', key, '-o', 'json')
      return JSON.parse(stdout) as StatusShown
    },
    skip: (ms: number) => clock.skip(ms),
    startDaemon: async (...args: readonly string[]) => {
      const program = resources.use(startHere(runArgs(workspace, platform.url, [...profile, ...args]), clock))
      return (url = await urlOf(program))
    },
    /** Where its daemon listens. */
    url: () => url,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

function withField(manifest: string, [field, value]: readonly [string, string]): string {
  return manifest.replace(new RegExp(`\\b${field}: [^,}\n]+`), `${field}: ${value}`)
}

/** Fields that are no policies have their values in the place of the usual ones. */
function pipeOf(name: string, fields: ReadonlyMap<string, string>): string {
  return [...fields].reduce(withField, pipeManifest(name, { policy: policyIn(fields) }))
}

export function policyIn(fields: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const policies = [...fields].filter(([field]) => field.startsWith('policy.'))
  return Object.fromEntries(policies.map(([field, value]) => [field.slice('policy.'.length), value]))
}
