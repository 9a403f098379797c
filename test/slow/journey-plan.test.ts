import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Plan } from '../../src/contract/plan.ts'
import { pipeManifest, SERVICE, serviceManifest, OTHER_SERVICE_ID } from '../support/manifests.ts'
import { runProgram } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'
import { createScenario, type Scenario } from './scenario.ts'

/*
 * A change of manifests, from the pull request until it is there: what the plan says is what happens, with and without a daemon.
 */

const TOKEN = 'planted-admin-token-8c2'
const NOBODY = '00000000-0000-4000-9000-0000000000ff'

const ENDPOINT = (role: string) => `apiVersion: pipewright/v1
kind: QueryEndpoint
metadata: {name: reports}
spec:
  service: analytics
  roles: [${role}]
  openApiKeys: [a8e17f45-2a6d-4c90-9d3e-5f0b4a8c1e67]
  allowedOrigins: https://app.example
`

async function jsonPlan(scenario: Scenario): Promise<{ readonly code: unknown; readonly plan: Plan }> {
  const { code, stdout, stderr } = await scenario.run(['plan', '-o', 'json'])
  expect(stderr).toBe('')
  return { code, plan: JSON.parse(stdout) as Plan }
}

/** What is sent, but for readings. */
function writesTo({ platform }: Scenario): number {
  return platform.requests().filter(({ operation = '' }) => !operation.startsWith('get')).length
}

function reads({ platform }: Scenario): number {
  return platform.requests().filter(({ operation = '' }) => operation.startsWith('get')).length
}

function verdicts({ items }: Plan): Readonly<Record<string, string>> {
  return Object.fromEntries(
    items.map(({ key, action, reason, verdict }) => [key, `${verdict}: ${action} ${reason}`]),
  )
}

describe('a change, planned and applied', () => {
  test('shows all of it before, does it, and then nothing is left to do', async () => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    scenario.writePipe('orders')
    scenario.writePipe('old', { name: 'stable' })
    workspace.write('manifests/endpoint.yaml', ENDPOINT('sql_console_admin'))
    const first = await scenario.run(['plan'])
    expect(first.code).toBe(2)
    expect(first.stdout).toContain('+ Pipe/orders  create New')
    expect(first.stdout).toContain('+     topics: orders')
    expect(first.stdout).toContain('password: "[secret kafka/password]"')
    expect(first.stdout).toContain('gives access: role sql_console_admin')
    expect(first.stdout).toContain('2 to create, 1 to apply, 1 not answered yet')
    expect(writesTo(scenario)).toBe(0)
    expect((await scenario.run(['apply'])).code).toBe(0)
    expect((await jsonPlan(scenario)).code).toBe(0)

    // The pull request: one that waits for another new one, a rename, another role, and a pipe that is there already.
    const [there] = platform.pipes().filter(({ name }) => name === 'orders')
    workspace.write('manifests/old.yaml', '')
    scenario.writePipe('renamed', { name: 'stable' })
    workspace.write('manifests/endpoint.yaml', ENDPOINT('sql_console_read_only'))
    scenario.writePipe('refunds', { policy: { dependsOn: '[Pipe/orders]' } })
    const before = writesTo(scenario)
    const { code, plan } = await jsonPlan(scenario)
    expect(code).toBe(2)
    expect(writesTo(scenario)).toBe(before)
    expect(verdicts(plan)).toEqual({
      'Pipe/orders': 'unchanged: observe InSync',
      'Pipe/refunds': 'change: create New',
      'Pipe/renamed': 'change: observe InSync',
      'QueryEndpoint/reports': 'change: upsert Edited',
      'Service/analytics': 'unchanged: observe InUse',
    })
    const item = (key: string) => plan.items.find((each) => each.key === key)
    expect(item('Pipe/renamed')?.renamedFrom).toBe('Pipe/old')
    expect(item('Pipe/refunds')).toMatchObject({
      after: ['Pipe/orders'],
      service: { name: 'analytics' },
      outline: { source: 'kafka', table: 'default.refunds' },
    })
    expect(item('QueryEndpoint/reports')).toMatchObject({
      gives: ['role sql_console_read_only'],
      takesAway: ['role sql_console_admin'],
      before: { roles: ['sql_console_admin'] },
      desired: { roles: ['sql_console_read_only'] },
    })

    const applied = await scenario.run(['apply'])
    expect(applied.code).toBe(0)
    expect(
      platform
        .pipes()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['orders', 'refunds', 'stable'])
    expect(platform.pipes().map(({ id }) => id)).toContain(there?.id)
    const after = await scenario.run(['plan'])
    expect(after.code).toBe(0)
    expect(after.stdout).toMatch(/^No changes: 5 unchanged\./m)
  })

  test('says beforehand what would be refused, and what is found out about a pipe to be taken over', async () => {
    await using scenario = await createScenario()
    const { platform } = scenario
    scenario.writePipe('orders')
    expect((await scenario.run(['apply'])).code).toBe(0)
    scenario.writePipe('orders', { replicas: 2 })
    scenario.writePipe('vain', { policy: { adopt: NOBODY } })
    scenario.writePipe('copy', { name: 'orders' })
    const { code, plan } = await jsonPlan(scenario)
    expect(code).toBe(1)
    expect(verdicts(plan)).toMatchObject({
      'Pipe/orders': 'refused: report NotUpdatable',
      'Pipe/vain': 'refused: adopt AdoptRefused',
      'Pipe/copy': 'refused: refuse NameTaken',
    })
    expect(plan.items.find(({ key }) => key === 'Pipe/orders')).toMatchObject({
      before: { scaling: { replicas: 1 } },
      desired: { scaling: { replicas: 2 } },
    })
    expect(platform.pipes()).toHaveLength(1)
    const applied = await scenario.run(['apply', '-o', 'json'])
    const said = JSON.parse(applied.stdout) as { resources: readonly { key: string; reason: string }[] }
    const reasons = Object.fromEntries(said.resources.map(({ key, reason }) => [key, reason]))
    const planned = Object.fromEntries(plan.items.map(({ key, reason }) => [key, reason]))
    for (const key of ['Pipe/orders', 'Pipe/vain', 'Pipe/copy']) expect(reasons[key]).toBe(planned[key])
  })
})

/* What a plan may say of a service, and of something new in it, while the platform answers like this. */
test.each([
  [401, 'refused: refuse AuthFailed', 'failed: create AuthFailed', 1],
  // It is about what was asked for: another operation may be allowed.
  [403, 'refused: refuse AuthFailed', 'change: create New', 1],
  [429, 'unchanged: observe Unanswered', 'change: create New', 1],
  [503, 'refused: refuse Unavailable', 'failed: create Unavailable', 1],
  [undefined, 'unchanged: observe InUse', 'change: create New', 2],
])(
  'while the platform answers %s, a plan does not say that the service answers',
  async (status, service, pipe, code) => {
    await using scenario = await createScenario()
    scenario.writePipe('orders')
    expect((await scenario.run(['apply'])).code).toBe(0)
    scenario.writePipe('refunds')
    if (status !== undefined)
      scenario.platform.faults.add({ times: 'always', fault: { type: 'status', status } })
    const ended = await jsonPlan(scenario)
    expect(verdicts(ended.plan)).toMatchObject({ 'Service/analytics': service, 'Pipe/refunds': pipe })
    expect(ended.code).toBe(code)
  },
)

test('of a service from which nothing was read, a plan says that it has not answered', async () => {
  await using scenario = await createScenario()
  scenario.writePipe('orders')
  const { code, plan } = await jsonPlan(scenario)
  expect(code).toBe(2)
  expect(verdicts(plan)).toEqual({
    'Service/analytics': 'unchanged: observe Unanswered',
    'Pipe/orders': 'change: create New',
  })
})

describe('a running daemon that is asked for the plan', () => {
  test('plans with what it has, and is none the wiser', async () => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    scenario.writePipe('orders')
    scenario.writePipe('returns')
    workspace.write('token', TOKEN)
    const live = await scenario.start(['--admin-token-file', workspace.path('token')])
    await live.says('Pipe/orders', 'Ready')
    await live.says('Pipe/returns', 'Ready')
    const token = ['--admin-token-file', workspace.path('token')]
    expect((await scenario.run(['reconcile', '--wait'], token)).code).toBe(0)

    // Elsewhere: manifests and the token, and nothing else.
    using checkout = createWorkspace()
    checkout.write('token', TOKEN)
    checkout.write('manifests/service.yaml', SERVICE)
    checkout.write('manifests/orders.yaml', pipeManifest('orders'))
    checkout.write('manifests/returns.yaml', pipeManifest('returns'))
    checkout.write('manifests/refunds.yaml', pipeManifest('refunds'))
    const plan = (...more: readonly string[]) =>
      runProgram(
        ['plan', '--server', live.url, '--manifests', 'manifests', '--admin-token-file', 'token', ...more],
        { cwd: checkout.dir },
      )
    const history = await live.history()
    const writes = writesTo(scenario)
    let readsBefore = reads(scenario)
    const readsSince = () => {
      const since = reads(scenario) - readsBefore
      readsBefore += since
      return since
    }
    const said = await plan('-o', 'json')
    expect([said.code, said.stderr]).toEqual([2, ''])
    expect(verdicts(JSON.parse(said.stdout) as Plan)).toEqual({
      'Pipe/orders': 'unchanged: observe InSync',
      'Pipe/refunds': 'change: create New',
      'Pipe/returns': 'unchanged: observe InSync',
      'Service/analytics': 'unchanged: observe InUse',
    })
    // One pipe of the service, to see that the credentials are still taken.
    expect(readsSince()).toBe(1)
    const text = await plan()
    expect(text.stdout).toContain('1 to create, 3 unchanged')
    expect(text.stdout).toMatch(
      /Of those that are unchanged, 1 was last checked by the daemon, up to \S+ ago\./,
    )
    expect(readsSince()).toBe(1)

    // What others depend on is read anew, and so is what has another body here.
    checkout.write(
      'manifests/refunds.yaml',
      pipeManifest('refunds', { policy: { dependsOn: '[Pipe/returns]' } }),
    )
    expect((await plan()).code).toBe(2)
    expect(readsSince()).toBe(2)
    checkout.write('manifests/refunds.yaml', pipeManifest('refunds'))
    checkout.write('manifests/orders.yaml', pipeManifest('orders', { replicas: 2 }))
    expect(verdicts(JSON.parse((await plan('-o', 'json')).stdout) as Plan)).toMatchObject({
      'Pipe/orders': 'refused: report NotUpdatable',
    })
    expect(readsSince()).toBe(2)
    checkout.write('manifests/orders.yaml', pipeManifest('orders'))
    checkout.write('manifests/refunds.yaml', '')
    expect(verdicts(JSON.parse((await plan('-o', 'json')).stdout) as Plan)).toEqual({
      'Pipe/orders': 'unchanged: observe InSync',
      'Pipe/returns': 'unchanged: observe InSync',
      'Service/analytics': 'unchanged: observe InUse',
    })
    checkout.write('manifests/refunds.yaml', pipeManifest('refunds'))

    // A Service that nobody may use: refused in the plan, and no reason for the daemon to pause its own.
    checkout.write(
      'manifests/service.yaml',
      serviceManifest({ name: 'analytics', serviceId: OTHER_SERVICE_ID, secret: 'analytics-api' }),
    )
    checkout.write('manifests/broken.yaml', 'kind: [')
    expect((await plan()).code).toBe(1)
    expect((await live.resource('Service/analytics'))?.status).toBe('Ready')
    expect((await live.resource('Pipe/orders'))?.status).toBe('Ready')
    expect(await live.resource('Pipe/refunds')).toBeUndefined()
    expect(await live.history()).toEqual(history)
    expect(writesTo(scenario)).toBe(writes)
    expect(platform.pipes()).toHaveLength(2)
    await live.stop()
    const gone = await plan()
    expect(gone.code).toBe(1)
    expect(gone.stderr).toMatch(/does not answer.*Check that the daemon runs/)
  })

  test.each([
    ['no token', [], 64, /--admin-token-file FILE/],
    ['a wrong token', ['--admin-token-file', 'wrong'], 1, /the admin token is wrong/],
    ['a token file that is not there', ['--admin-token-file', 'nowhere'], 1, /cannot be read from nowhere/],
  ])('says so to who comes with %s', async (_, more, code, said) => {
    await using scenario = await createScenario()
    scenario.workspace.write('token', TOKEN)
    const live = await scenario.start(['--admin-token-file', scenario.workspace.path('token')])
    using checkout = createWorkspace()
    checkout.write('wrong', 'planted-wrong')
    const ended = await runProgram(['plan', '--server', live.url, ...more], { cwd: checkout.dir })
    expect(ended.code).toBe(code)
    expect(ended.stderr).toMatch(said)
    expect(ended.stderr).not.toContain('planted-')
  })

  test('is off without an admin token in the daemon', async () => {
    await using scenario = await createScenario()
    const live = await scenario.start()
    using checkout = createWorkspace()
    checkout.write('token', TOKEN)
    const args = ['plan', '--server', live.url, '--admin-token-file', 'token']
    const ended = await runProgram(args, { cwd: checkout.dir })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain('planning is switched off')
  })
})

test('a plan of a ledger on disk leaves every byte of it as it was', async () => {
  await using scenario = await createScenario()
  scenario.writePipe('orders')
  expect((await scenario.run(['apply'])).code).toBe(0)
  const digest = () => createHash('sha256').update(readFileSync(scenario.ledger)).digest('hex')
  const before = digest()
  scenario.writePipe('orders', { replicas: 2 })
  scenario.writePipe('refunds')
  expect((await scenario.run(['plan'])).code).toBe(1)
  expect(digest()).toBe(before)
})
