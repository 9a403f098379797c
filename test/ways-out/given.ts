import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { systemClock } from '../../src/daemon/system-clock.ts'
import { LedgerRecord, type Intent } from '../../src/plan/record.ts'
import type { FaultInput } from '../../src/sandbox/fault-types.ts'
import { type Sandbox } from '../../src/sandbox/sandbox-server.ts'
import {
  CREDENTIAL,
  furnish,
  ORGANIZATION,
  OTHER_SERVICE_ID,
  pipeBody,
  platformArgs,
  runArgs,
  SERVICE_ID,
} from '../support/manifests.ts'
import { type Program, resourcesOf, type Shown, startProgram, urlOf } from '../support/process.ts'
import { type Ended, runHere } from '../support/command.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { startPlatform } from '../support/platform.ts'

/** The real program in a folder of its own, against a platform in this process. */
export interface Given extends AsyncDisposable {
  readonly workspace: Workspace
  readonly platform: Sandbox
  /** Ends with the id of the pipe that the platform has under a name. */
  readonly pipeId: (name: string) => string
  /** POSTs that reached the platform. */
  readonly posts: () => number
  /** Runs a command within this process, with what it needs to know of platform and ledger. */
  readonly command: (...args: readonly string[]) => Promise<Ended>
  /** The environment of commands within this process. */
  readonly env: Record<string, string>
  /** One pass, within this process. */
  readonly apply: (...args: readonly string[]) => ReturnType<Given['command']>
  /** What the ledger says of one key, as `status` tells it. */
  readonly status: (key: string) => Promise<StatusShown>
  readonly startDaemon: (
    ...args: readonly string[]
  ) => Promise<{ readonly program: Program; readonly url: string }>
}

export interface StatusShown extends Shown {
  readonly conditions: Readonly<Record<'Valid' | 'Synced' | 'Ready', object>>
  readonly intent?: { readonly id: string; readonly state: string; readonly attempt: number }
}

/** @param names a pipe of each, in a file of its own */
export async function given(...names: readonly string[]): Promise<Given> {
  await using stack = new AsyncDisposableStack()
  const workspace = stack.use(createWorkspace())
  furnish(workspace, ...names)
  const platform = stack.use(
    await startPlatform({
      fixture: {
        services: [
          { organizationId: ORGANIZATION, serviceId: SERVICE_ID },
          { organizationId: ORGANIZATION, serviceId: OTHER_SERVICE_ID },
        ],
      },
    }),
  )
  const base = [...platformArgs(workspace, platform.url), '--api-budget', '1000/1s']
  // Beside a real process, time is real.
  const isAlone = expect.getState().testPath?.includes('.program.') === false
  const clock = isAlone ? createTurningClock() : systemClock
  const command: Given['command'] = (name = '', ...args) => runHere([name, ...base, ...args], env, { clock })
  const env: Given['env'] = {}
  const resources = stack.move()
  return {
    workspace,
    platform,
    command,
    env,
    pipeId: (name) => platform.pipes().find((pipe) => pipe.name === name)?.id ?? `no pipe ${name}`,
    posts: () => platform.requests().filter(({ method }) => method === 'POST').length,
    apply: (...args) => command('apply', ...args),
    async status(key) {
      const { stdout } = await command('status', key, '-o', 'json')
      return JSON.parse(stdout) as StatusShown
    },
    async startDaemon(...args) {
      const program = resources.use(startProgram(runArgs(workspace, platform.url, args)))
      return { program, url: await urlOf(program) }
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** A pipe whose create got no reply: done on the platform by `cut-after`, not done by `cut-before`. */
export async function unknownOutcome(fault: FaultInput, name = 'orders'): Promise<Given> {
  const world = await given(name)
  world.platform.faults.add({ operation: 'createPipe', fault })
  await world.apply()
  return world
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

/** Makes the last intent of a key one that is being sent since `ageMs`, as a crash or a running daemon leaves it. */
export function reopenIntent(world: Given, key: string, ageMs: number): void {
  dateIntent(world, key, ageMs, { state: 'open', seen: undefined })
}

/** Makes the last intent of a key older, with an outcome that is not known as ever. */
export function ageIntent(world: Given, key: string, ageMs: number): void {
  dateIntent(world, key, ageMs, { state: 'unknown' })
}

/** The same of one whose request went through a proxy. */
export function ageIntentOfProxy(world: Given, key: string, ageMs: number): void {
  const seen = { at: Date.now(), what: 'cut', proxy: 'http://proxy.example:3128' }
  dateIntent(world, key, ageMs, { state: 'unknown', seen })
}

function dateIntent({ workspace }: Given, key: string, ageMs: number, changes: Partial<Intent>): void {
  const openedAt = Date.now() - ageMs
  const db = new DatabaseSync(workspace.path('ledger.db'), { timeout: 10_000 })
  try {
    const row = db.prepare('SELECT body FROM record WHERE key = ?').get(key)
    const record = LedgerRecord.parse(JSON.parse(String(row?.['body'])))
    const dates = { openedAt, sendBy: openedAt + 5_000, endBy: openedAt + 40_000 }
    const intent = { ...record.intent, ...changes, ...dates }
    const version = record.version + 1
    db.prepare('UPDATE record SET version = ?, body = ? WHERE key = ?').run(
      version,
      JSON.stringify({ ...record, version, intent }),
      key,
    )
  } finally {
    db.close()
  }
}
