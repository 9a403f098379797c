import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import type { SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import { furnish, head, ORGANIZATION, platformArgs, SERVICE_ID } from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { runHere } from '../support/command.ts'
import { systemClock } from '../../src/daemon/system-clock.ts'
import { createWallClock } from '../support/wall-clock.ts'
import { createWorkspace } from '../support/workspace.ts'

/* Commands in this process, with a platform that lists its pipes. */

/** A manifest of a pipe. */
export function pipe(name: string, more = '', policy = ''): string {
  return `${head('Pipe', name)}${policy}
spec:
  service: analytics
  source:
    kinesis: {format: JSONEachRow, streamName: ${name}, region: eu-north-1, iteratorType: LATEST, authentication: IAM_ROLE, iamRole: "arn:aws:iam::210987654321:role/a"}
  destination:
    table: ${name.replaceAll('-', '_')}
    managedTable: true
    tableDefinition: {engine: {type: MergeTree}, sortingKey: [at]}
    columns: [{name: at, type: DateTime}]
${more}`
}

interface Shown {
  readonly key: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

export type World = Awaited<ReturnType<typeof given>>

/** A service, and manifests of pipes with these names. @param time of the commands: some wait for a minute */
export async function given(
  names: readonly string[],
  options: Partial<SandboxOptions> = {},
  time = systemClock,
) {
  const workspace = createWorkspace()
  const platform = await startPlatform({
    profile: CLICKHOUSE_CLOUD,
    ...options,
    fixture: { alerts: [], ...options.fixture },
  })
  furnish(workspace)
  for (const name of names) workspace.write(`manifests/${name}.yaml`, pipe(name))
  const wallClock = createWallClock()
  const budget = ['--api-budget', '1000/1s']
  let seen = 0
  const common = [...platformArgs(workspace, platform.url), '--profile', 'clickhouse-cloud']
  let last: readonly Shown[] = []
  return {
    workspace,
    platform,
    /** One pass. @returns the reason of each pipe */
    async apply(...more: readonly string[]) {
      const args = ['apply', ...common, ...budget, '-o', 'json', ...more]
      const { stdout, stderr } = await runHere(args, {}, { clock: time })
      if (stdout === '') throw new Error(stderr)
      last = (JSON.parse(stdout) as { readonly resources: readonly Shown[] }).resources
      return Object.fromEntries(
        last.filter(({ key }) => key.startsWith('Pipe/')).map(({ key, reason }) => [key.slice(5), reason]),
      )
    },
    messageOf: (key: string) => last.find((one) => one.key === key)?.message ?? '',
    requests: (operation: string) => platform.requests().filter((one) => one.operation === operation).length,
    /** Operations that change something, since this was asked the last time. */
    changes() {
      const since = platform.requests().slice(seen)
      seen += since.length
      return since.filter(({ method }) => method !== 'GET').map(({ operation }) => String(operation))
    },
    /** Another command. */
    run: (command = '', ...args: readonly string[]) =>
      runHere([command, ...args, ...common, ...budget], {}, { clock: time }),
    /** The same, which is stopped by a signal. */
    runUntil: (stopping: AbortSignal, command = '', ...args: readonly string[]) =>
      runHere([command, ...args, ...common, ...budget], {}, { stopping, clock: time }),
    /** The wall clock is so much later from now on. */
    skip: (ms: number) => wallClock.skip(ms),
    async [Symbol.asyncDispose]() {
      wallClock[Symbol.dispose]()
      await platform[Symbol.asyncDispose]()
      workspace[Symbol.dispose]()
    },
  }
}

export const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** A pipe that somebody made in the console. */
export function there(number: number, name: string, more: object = {}) {
  return {
    id: id(number),
    organizationId: ORGANIZATION,
    serviceId: SERVICE_ID,
    createdAt: `2026-01-01T00:00:${String(number).padStart(2, '0')}Z`,
    name,
    source: {
      kinesis: {
        format: 'JSONEachRow' as const,
        streamName: `stream-${number}`,
        region: 'eu-north-1',
        iteratorType: 'LATEST' as const,
        authentication: 'IAM_ROLE' as const,
        iamRole: 'arn:aws:iam::210987654321:role/a',
      },
    },
    destination: {
      table: `table_${number}`,
      managedTable: false,
      columns: [{ name: 'at', type: 'DateTime' }],
    },
    ...more,
  }
}

export function consoleOf(...pipes: readonly object[]) {
  return { fixture: { pipes: pipes as never } } // as its schema wants them; it says so otherwise
}
