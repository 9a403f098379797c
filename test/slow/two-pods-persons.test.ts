import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApiModel, type ApiModel } from '../kubernetes/api-model.ts'
import { startCountingPlatform, type CountingPlatform } from '../kubernetes/counting-platform.ts'
import type { CreateFate } from '../support/front.ts'
import {
  acts,
  commandFlagsOf,
  epochOf,
  LEDGER,
  passes,
  startPod,
  writeCommon,
  type Pod,
} from '../kubernetes/pods.ts'
import {
  CREDENTIAL,
  ORGANIZATION,
  pipeBody,
  pipeManifest,
  SERVICE,
  SERVICE_ID,
} from '../support/manifests.ts'
import { resourcesOf, runProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

/* What a person says while one process acts and another one stands by: it counts, from wherever it is said. */

const TOKEN = 'a-token-of-the-test'
const fates = new Map<string, CreateFate>()

let stack: AsyncDisposableStack
let workspace: Workspace
let api: ApiModel
let platform: CountingPlatform
let leader: Pod
let standby: Pod

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  workspace = stack.use(createWorkspace())
  api = stack.use(await startApiModel())
  platform = stack.use(await startCountingPlatform((name) => fates.get(name) ?? 'answered'))
  writeCommon(workspace)
  workspace.write('admin-token', TOKEN)
  const settings = { 'max-creates': '4', 'admin-token-file': workspace.path('admin-token') }
  const options = { ...where(), leaseMs: 1_000, settings }
  leader = await startPod('one', options, stack)
  await acts(leader)
  standby = await startPod('two', options, stack)
  await until('it to stand by', () => standby.program.stdout().includes('standing by'))
})

afterAll(async () => {
  await stack.disposeAsync()
})

function where() {
  return { workspace, api, platform: platform.url, leaseMs: 1_000 }
}

/** As it is said inside of a pod, or beside it. */
async function said(pod: 'one' | 'two', words: readonly string[], flags = commandFlagsOf(where())) {
  const env = { KUBECONFIG: workspace.path(`${pod}.kubeconfig`) }
  const { code, stdout, stderr } = await runProgram([...words, ...flags], { env })
  return { code, text: stdout + stderr }
}

async function shown(pod: Pod, key: string) {
  return (await resourcesOf(await urlOf(pod.program))).find((each) => each.key === key)
}

async function becomes(pod: Pod, key: string, status: string) {
  return until(`${key} to be ${status} at ${pod.name}`, async () => {
    const found = await shown(pod, key)
    return found?.status === status ? found : undefined
  })
}

/** One that was taken over ends, and is started again, as a pod is; then it stands by. */
async function oneActs(): Promise<void> {
  await until('one of them to act', async () => {
    for (const pod of [leader, standby]) {
      const ended = await Promise.race([pod.program.ended, passes(100)])
      if (ended !== undefined) await pod.again()
      else if (epochOf(pod) !== undefined)
        [leader, standby] = pod === leader ? [leader, standby] : [pod, leader]
    }
    return epochOf(leader) !== undefined && epochOf(standby) === undefined
  })
}

test('resolve and adopt, said at the standby, are carried out by the leader, and both show it', async () => {
  fates.set('orders', 'lost')
  workspace.write('manifests/orders.yaml', pipeManifest('orders'))
  await becomes(leader, 'Pipe/orders', 'OutcomeUnknown')
  await becomes(standby, 'Pipe/orders', 'OutcomeUnknown')
  const [id = ''] = platform.pipes.get('orders') ?? []
  const resolved = await said('two', ['resolve', 'Pipe/orders', '--adopt', id])
  expect(resolved).toMatchObject({ code: 0 })
  for (const pod of [leader, standby])
    expect(await becomes(pod, 'Pipe/orders', 'Ready')).toMatchObject({ pipeId: id })
  const { keyId, keySecret } = CREDENTIAL
  const path = `/v1/organizations/${ORGANIZATION}/services/${SERVICE_ID}/pipes`
  const made = await fetch(`${platform.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(pipeBody('clicks')),
  })
  const { result } = (await made.json()) as { result: { id: string } }
  // Its manifest is not committed yet.
  workspace.write('draft/service.yaml', SERVICE)
  workspace.write('draft/clicks.yaml', pipeManifest('clicks'))
  const flags = [...commandFlagsOf(where()), '--manifests', workspace.path('draft')]
  const adopted = await said('two', ['adopt', 'Pipe/clicks', result.id], flags)
  expect(adopted).toMatchObject({ code: 0 })
  await becomes(leader, 'Pipe/clicks', 'Orphaned')
  const forgotten = await said('one', ['forget', 'Pipe/clicks'])
  expect(forgotten).toMatchObject({ code: 0 })
  for (const pod of [leader, standby])
    await until('it to be forgotten', async () => (await shown(pod, 'Pipe/clicks')) === undefined)
  expect(platform.pipes.get('orders')).toHaveLength(1)
})

test('allow, said at the standby, lets the leader create', async () => {
  const names = ['more-1', 'more-2', 'more-3', 'more-4']
  workspace.write('manifests/more.yaml', names.map((name) => pipeManifest(name)).join('---\n'))
  await until('the limit', async () => (await shown(leader, 'Pipe/more-1'))?.reason === 'CreateLimit')
  expect(await said('two', ['allow'])).toMatchObject({ code: 0 })
  for (const name of names) await becomes(leader, `Pipe/${name}`, 'Ready')
})

test('lock, status and history say the same from either pod', async () => {
  const flags = ['--ledger', `kubernetes:${LEDGER}`]
  for (const command of ['lock', 'history']) {
    const [one, two] = [await said('one', [command], flags), await said('two', [command], flags)]
    expect(one).toMatchObject({ code: 0 })
    expect(two).toEqual(one)
    expect(one.text).toContain('orders')
  }
  const status = await said('two', ['status', 'Pipe/orders'], flags)
  expect(status).toMatchObject({ code: 0 })
  expect(status.text).toContain('Ready')
})

test('reconcile reaches the leader, and at the standby it is said who that is', async () => {
  const file = ['--admin-token-file', workspace.path('admin-token')]
  const done = await said(
    'one',
    ['reconcile', 'Pipe/orders', '--wait'],
    ['--server', await urlOf(leader.program), ...file],
  )
  expect(done).toMatchObject({ code: 0 })
  const refused = await said(
    'two',
    ['reconcile', 'Pipe/orders'],
    ['--server', await urlOf(standby.program), ...file],
  )
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.text).toContain(await urlOf(leader.program))
})

test('apply is refused while another process acts', async () => {
  const refused = await said('two', ['apply'])
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.text).toContain('another pipewright acts with this ledger')
})

test('while the API is away no resource is created, the probes stay good, the page and the metrics say why, and it continues by itself', async () => {
  const url = await urlOf(leader.program)
  const textOf = async (path: string) => {
    const reply = await fetch(`${url}${path}`)
    return { ok: reply.ok, text: await reply.text() }
  }
  for (const pod of [leader, standby]) pod.toApi.set('cut')
  await until('it to be said', async () =>
    (await textOf('/metrics')).text.includes('pipewright_lease_renewal_failing 1'),
  )
  const before = platform.creates()
  workspace.write('manifests/later.yaml', pipeManifest('later'))
  await passes(4_000)
  for (const probe of ['/healthz', '/readyz']) expect(await textOf(probe)).toMatchObject({ ok: true })
  expect((await textOf('/api/v1/overview')).text).toContain('cannot be reached')
  expect((await shown(leader, 'Pipe/later'))?.pipeId).toBeUndefined()
  expect(platform.creates()).toBe(before)
  for (const pod of [leader, standby]) pod.toApi.set('open')
  await until('it to be created', () => platform.pipes.get('later') !== undefined)
  await oneActs()
  const { pipeId } = await becomes(leader, 'Pipe/later', 'Ready')
  expect(platform.pipes.get('later')).toEqual([pipeId])
  const metrics = await (await fetch(`${await urlOf(leader.program)}/metrics`)).text()
  expect(metrics).toContain('pipewright_lease_renewal_failing 0')
})

async function isRefused(pod: Pod): Promise<boolean> {
  const { status, reason, pipeId, message } = (await shown(pod, 'Pipe/lost')) ?? {}
  const isSaid = message?.includes('was rolled back') === true
  return status === 'Failed' && reason === 'LedgerFailed' && pipeId === undefined && isSaid
}

test('after a restore of the store creates are refused until an operator accepts it, whoever acts', async () => {
  const back = api.snapshot()
  workspace.write('manifests/lost.yaml', pipeManifest('lost'))
  const { pipeId: id } = await becomes(leader, 'Pipe/lost', 'Ready')
  back()
  const written = () => {
    const [, secret] = [...api.objects()].find(([path]) => path.includes('/secrets/')) ?? []
    const { setBack = '' } = (secret as { data: { setBack?: string } }).data
    return Buffer.from(setBack, 'base64').toString()
  }
  await until('that it is noticed, and written down', () => written() !== '', 120_000)
  for (const pod of [leader, standby]) await until(`${pod.name} to show it`, () => isRefused(pod))
  for (const pod of [leader, standby]) pod.program.signal('SIGKILL')
  for (const pod of [leader, standby]) await pod.program.ended
  await oneActs()
  await until('it to be said by who knows it from the Secret only', async () =>
    (await shown(leader, 'Pipe/lost').catch(() => undefined))?.message.includes('was rolled back'),
  )
  await until('the standby to show it', () => isRefused(standby))
  const told = 'The ledger was rolled back to an earlier state'
  const status = await said('two', ['status'])
  expect([status.code, status.text]).toEqual([1, expect.stringContaining(told)])
  expect((await said('one', ['plan'])).text).toContain(told.toLowerCase())
  for (const pod of [leader, standby]) {
    const overview = await fetch(`${await urlOf(pod.program)}/api/v1/overview`)
    expect(((await overview.json()) as { verdict: { sentence: string } }).verdict.sentence).toContain(told)
  }
  const flags = ['--ledger', `kubernetes:${LEDGER}`]
  expect(await said('one', ['adopt', 'Pipe/lost', id ?? ''])).toMatchObject({ code: 0 })
  workspace.write('manifests/after.yaml', pipeManifest('after'))
  await passes(2_000)
  expect(platform.pipes.get('after')).toBeUndefined()
  const accepted = await said('two', ['ledger', 'accept'], flags)
  expect(accepted).toMatchObject({ code: 0 })
  expect(accepted.text).toContain('as it is, although ')
  await until('it to be created', () => platform.pipes.get('after') !== undefined, 120_000)
  expect(platform.pipes.get('lost')).toEqual([id])
})
