import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import type { Sandbox } from '../../src/sandbox/sandbox-server.ts'
import { ask, ENDPOINT, givenSandbox, KEY } from '../sandbox/given.ts'
import { mountCredential, platformArgs, SERVICE } from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { createWallClock } from '../support/wall-clock.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

/* What commands say of the query endpoint, each as a process of its own, against the sandbox. */

const MINUTE = 60_000
const KEY_A = '11111111-1111-4111-8111-111111111111'
const KEY_B = '22222222-2222-4222-8222-222222222222'
const AS_ASKED = { roles: ['sql_console_read_only'], openApiKeys: [KEY_A], allowedOrigins: '' }

interface World extends AsyncDisposable {
  readonly workspace: Workspace
  readonly sandbox: Sandbox
  /** A command, to its end. */
  run(command: 'apply' | 'plan'): Promise<{ readonly code: unknown; readonly stdout: string }>
  /** Requests to the endpoint since this was asked last, with their status. */
  requests(): readonly string[]
  skip(ms: number): void
}

async function world(): Promise<World> {
  const workspace = createWorkspace()
  const sandbox = await givenSandbox({ profile: CLICKHOUSE_CLOUD, fixture: {} })
  mountCredential(workspace, 'analytics-api', KEY)
  workspace.write('manifests/service.yaml', SERVICE)
  let seen = 0
  const clock = createWallClock()
  const args = (command: string) => [
    command,
    '--profile',
    'clickhouse-cloud',
    ...platformArgs(workspace, sandbox.url),
    '--api-budget',
    '1000/1s',
  ]
  return {
    workspace,
    sandbox,
    run: (command) => runHere(args(command)),
    requests() {
      const all = sandbox.requests().filter(({ path }) => path === ENDPOINT)
      const now = all.slice(seen)
      seen = all.length
      return now.map(({ method, answer }) => `${method} ${answer?.status}`)
    },
    skip: (ms) => clock.skip(ms),
    async [Symbol.asyncDispose]() {
      clock[Symbol.dispose]()
      await sandbox[Symbol.asyncDispose]()
      workspace[Symbol.dispose]()
    },
  }
}

function manifest(policy = '', keys = KEY_A): string {
  return `apiVersion: pipewright/v1
kind: QueryEndpoint
metadata: {name: analytics}
policy: {${policy}}
spec: {service: analytics, roles: [sql_console_read_only], openApiKeys: [${keys}], allowedOrigins: ''}
`
}

function there({ sandbox }: World): unknown {
  const [endpoint] = sandbox.endpoints()
  if (endpoint === undefined) return undefined
  const { id: _, ...body } = endpoint.body
  return body
}

test('what others set is in the plan before it is replaced, and drift is told and not replaced', async () => {
  await using w = await world()
  await ask(w.sandbox, ENDPOINT, { body: { ...AS_ASKED, openApiKeys: [KEY_A, KEY_B] } })
  w.requests()
  w.workspace.write('manifests/endpoint.yaml', manifest(''))
  const plan = await w.run('plan')
  expect(plan.code).toBe(2)
  expect(plan.stdout).toContain(
    `The service has a query endpoint already. Will be applied. It takes away key ${KEY_B}.`,
  )
  expect(plan.stdout).toContain(`takes away: key ${KEY_B}`)
  expect(w.requests().filter((each) => !each.startsWith('GET'))).toEqual([])
  expect((await w.run('apply')).code).toBe(0)
  expect(there(w)).toEqual(AS_ASKED)
  w.requests()
  expect((await w.run('apply')).code).toBe(0)
  expect(w.requests()).toEqual(['GET 200'])
  await ask(w.sandbox, ENDPOINT, { body: { ...AS_ASKED, roles: [] } })
  w.requests()
  const drifted = await w.run('apply')
  expect(drifted.stdout).toContain('Drifted')
  expect(w.requests()).toEqual(['GET 200'])
  w.workspace.write('manifests/endpoint.yaml', manifest('onDrift: correct'))
  expect((await w.run('apply')).code).toBe(0)
  expect(there(w)).toEqual(AS_ASKED)
})

test('policy.ensure absent deletes it after ten minutes, once; then the manifest can go', async () => {
  await using w = await world()
  w.workspace.write('manifests/endpoint.yaml', manifest())
  await w.run('apply')
  w.workspace.write('manifests/endpoint.yaml', manifest('ensure: absent'))
  expect((await w.run('apply')).stdout).toMatch(/QueryEndpoint\/analytics\s+Progressing\s+Deleting/)
  expect((await w.run('plan')).stdout).toContain('The query endpoint is deleted at ')
  w.skip(9 * MINUTE)
  await w.run('apply')
  expect(there(w)).toEqual(AS_ASKED)
  w.skip(2 * MINUTE)
  const plan = await w.run('plan')
  expect(plan.code).toBe(2)
  expect(plan.stdout).toContain('- QueryEndpoint/analytics  delete Deleting')
  expect(plan.stdout).toContain('takes away: role sql_console_read_only')
  expect(there(w)).toEqual(AS_ASKED)
  w.requests()
  await w.run('apply')
  expect(w.requests()).toEqual(['GET 200', 'GET 200', 'DELETE 200'])
  expect(there(w)).toBeUndefined()
  expect((await w.run('apply')).stdout).toMatch(/QueryEndpoint\/analytics\s+Absent/)
  rmSync(w.workspace.path('manifests/endpoint.yaml'))
  const last = await w.run('apply')
  expect(last.stdout).not.toContain('QueryEndpoint/analytics')
})
