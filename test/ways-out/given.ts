import type { FaultInput } from '../../src/sandbox/fault-types.ts'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import { openLedger } from '../../src/ledger/open.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import {
  CREDENTIAL,
  furnish,
  ORGANIZATION,
  OTHER_SERVICE_ID,
  pipeBody,
  pipeManifest,
  platformArgs,
  runArgs,
  SERVICE_ID,
} from '../support/manifests.ts'
import { type Program, resourcesOf, type Shown, urlOf } from '../support/process.ts'
import { type Ended, runHere } from '../support/command.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { startHere } from '../support/program-here.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { startPlatform } from '../support/platform.ts'

/** Commands in this process, with a folder of their own, against a platform in this process. */
export interface Given extends AsyncDisposable {
  readonly workspace: Workspace
  readonly platform: Sandbox
  /** Ends with the id of the pipe that the platform has under a name. */
  readonly pipeId: (name: string) => string
  /** POSTs that reached the platform. */
  readonly posts: () => number
  readonly manifestOf: ManifestOf
  readonly command: (...args: readonly string[]) => Promise<Ended>
  /** The same, which is stopped by a signal. */
  readonly commandUntil: (stopping: AbortSignal, ...args: readonly string[]) => Promise<Ended>
  /** The environment of commands within this process. */
  readonly env: Record<string, string>
  /** One pass, within this process. */
  readonly apply: (...args: readonly string[]) => ReturnType<Given['command']>
  /** What the ledger says of one key, as `status` tells it. */
  readonly status: (key: string) => Promise<StatusShown>
  readonly skip: (ms: number) => void
  readonly startDaemon: (
    ...args: readonly string[]
  ) => Promise<{ readonly program: Program; readonly url: string }>
  /** Its ledger belongs to this process, which answers at `url`. */
  readonly own: (url?: string) => Promise<Ledger>
}

export interface StatusShown extends Shown {
  readonly conditions: Readonly<Record<'Valid' | 'Synced' | 'Ready', object>>
  readonly intent?: { readonly id: string; readonly state: string; readonly attempt: number }
}

/** @param names a pipe of each, in a file of its own */
export function given(...names: readonly string[]): Promise<Given> {
  return givenAt({}, pipeOf, ...names)
}

/** A pipe with what a step of a story says of it. @param fields with their values; policies as `policy.adopt` */
export type ManifestOf = (name: string, fields: ReadonlyMap<string, string>) => string

export function pipeOf(name: string, fields: ReadonlyMap<string, string>): string {
  const manifest = pipeManifest(name, {
    policy: policyIn(fields),
    replicas: Number(fields.get('replicas') ?? 1),
    service: fields.get('service') ?? 'analytics',
  })
    .replace('username: reader', `username: ${fields.get('username') ?? 'reader'}`)
    .replace('key: password', `key: ${fields.get('key') ?? 'password'}`)
  return fields.has('flawed') ? manifest.replace('topics', 'topisc') : manifest
}

export function policyIn(fields: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const policies = [...fields].filter(([field]) => field.startsWith('policy.'))
  return Object.fromEntries(policies.map(([field, value]) => [field.slice('policy.'.length), value]))
}

/** As {@link given}, on another platform. */
export async function givenAt(
  options: Partial<SandboxOptions>,
  manifestOf: ManifestOf,
  ...names: readonly string[]
): Promise<Given> {
  await using stack = new AsyncDisposableStack()
  const workspace = stack.use(createWorkspace())
  furnish(workspace)
  for (const name of names) workspace.write(`manifests/${name}.yaml`, manifestOf(name, new Map()))
  const services = [SERVICE_ID, OTHER_SERVICE_ID].map((serviceId) => ({
    organizationId: ORGANIZATION,
    serviceId,
  }))
  const platform = stack.use(await startPlatform({ ...options, fixture: { services, ...options.fixture } }))
  const base = [...platformArgs(workspace, platform.url), '--api-budget', '1000/1s']
  if (options.profile !== undefined) base.push('--profile', options.profile.name)
  const clock = stack.use(createTurningClock())
  const env: Given['env'] = {}
  const command: Given['command'] = (name = '', ...args) => runHere([name, ...base, ...args], env, { clock })
  const profile = base.slice(base.indexOf('--api-budget') + 2)
  const resources = stack.move()
  return {
    workspace,
    platform,
    manifestOf,
    command,
    commandUntil: (stopping, name = '', ...args) =>
      runHere([name, ...base, ...args], env, { clock, stopping }),
    env,
    pipeId: (name) => platform.pipes().find((pipe) => pipe.name === name)?.id ?? `no pipe ${name}`,
    posts: () => platform.requests().filter(({ method }) => method === 'POST').length,
    apply: (...args) => command('apply', ...args),
    async status(key) {
      const { stdout } = await command('status', key, '-o', 'json')
      return JSON.parse(stdout) as StatusShown
    },
    skip: (ms) => clock.skip(ms),
    async startDaemon(...args) {
      const program = resources.use(startHere(runArgs(workspace, platform.url, [...profile, ...args]), clock))
      return { program, url: await urlOf(program) }
    },
    async own(url) {
      const of = { mode: 'owner', init: 'never', clock: createFakeClock(), emit: () => undefined } as const
      const { ledger } = await openLedger(`sqlite:${workspace.path('ledger.db')}`, of)
      const at = { startedAt: clock.now(), seenAt: clock.now() }
      await ledger.noteActivity({ command: 'run', process: 1, host: 'here', url, ...at }, new Map())
      return ledger
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** How the next create is answered: done on the platform by `cut-after`, not done by `cut-before`, refused by a status. */
export function answerCreate({ platform }: Given, how: string, name = ''): void {
  const fault = /^\d+$/.test(how) ? { type: 'status', status: Number(how) } : { type: how }
  const subject = name === '' ? {} : { subject: name }
  platform.faults.add({ operation: 'createPipe', fault: fault as FaultInput, ...subject }) // it refuses what is none
}

/** A pipe that somebody made in the console. @returns its id */
export async function strayPipe({ platform }: Given, name: string, serviceId = SERVICE_ID): Promise<string> {
  const path = `/v1/organizations/${ORGANIZATION}/services/${serviceId}/pipes`
  const login = Buffer.from(`${CREDENTIAL.keyId}:${CREDENTIAL.keySecret}`).toString('base64')
  const reply = await fetch(platform.url + path, {
    method: 'POST',
    headers: { authorization: `Basic ${login}`, 'content-type': 'application/json' },
    body: JSON.stringify(pipeBody(name)),
  })
  const { result } = (await reply.json()) as { result: { id: string } } // the envelope of the interface (1)
  return result.id
}

/** The daemon's own word on a key, once it is `status`. */
export function shownAs(url: string, key: string, status: string, limitMs?: number): Promise<Shown> {
  return until(
    `${key} to be ${status}`,
    async () => (await resourcesOf(url)).find((item) => item.key === key && item.status === status),
    limitMs,
  )
}
