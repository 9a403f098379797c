import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { httpServer, type TestServer } from '../platform/support/server.ts'
import { alertManifest, furnish, pipeManifest, runArgs } from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { startProgram, stop, type Program, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { startPlatform } from '../support/platform.ts'

/* The real process, a platform and a real receiver: a problem begins, ends, and persists over restarts. */

const SECRET = 'whsec_cGxhbnRlZC1zaWduaW5nLWtleQ=='

function write(workspace: Workspace, hook: string): void {
  workspace.write('credentials/notifications/url', `${hook}/hook/planted-path\n`)
  workspace.write('credentials/notifications/secret', SECRET)
  furnish(workspace, 'orders')
  const firing = alertManifest('lag', 'alert-1').replace('spec:', 'policy: {healthyStates: [OK]}\nspec:')
  workspace.write('manifests/lag.yaml', firing)
}

function start(workspace: Workspace, platform: string): Program {
  const url = `file:${workspace.path('credentials/notifications/url')}`
  const secret = workspace.path('credentials/notifications/secret')
  return startProgram(
    runArgs(workspace, platform, [
      '--interval=1s',
      `--webhook-url=${url}`,
      `--webhook-secret-file=${secret}`,
      '--public-url=https://pipes.example',
    ]),
  )
}

/** `began Pipe/orders Drifted` of each message, in their order. */
function told({ requests }: TestServer): readonly string[] {
  return requests.map(({ body }) => {
    const message = JSON.parse(body) as { type: string; keys: string[]; problem: string } // as the page says
    return `${message.type.slice('problem.'.length)} ${message.keys.join(' ')} ${message.problem}`
  })
}

async function metricOf(url: string, sample: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${sample} `))
  return Number(line?.split(' ').at(-1))
}

async function passes(url: string, count: number): Promise<void> {
  const sample = 'pipewright_reconcile_total{kind="Alert",action="observe",result="done"}'
  await until(`${count} passes`, async () => (await metricOf(url, sample)) >= count)
}

test('a problem that begins and ends is sent once, over a restart too', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  await using hook = await httpServer((response) => response.writeHead(204).end())
  write(workspace, hook.url)
  {
    await using program = start(workspace, platform.url)
    const url = await urlOf(program)
    await passes(url, 2)
    platform.setAlert('alert-1', { state: 'ALERT' })
    await until('the begin', () => told(hook).length === 1)
    expect(await metricOf(url, 'pipewright_problems{severity="warning"}')).toBe(1)
    platform.setAlert('alert-1', { state: 'OK' })
    await until('the end', () => told(hook).length === 2)
    await until(
      'no change to wait',
      async () => (await metricOf(url, 'pipewright_notifications_waiting')) === 0,
    )
    expect(await metricOf(url, 'pipewright_notification_requests_total{code="204"}')).toBe(2)
    await stop(program)
  }
  expect(told(hook)).toEqual(['began Alert/lag UnhealthyState', 'ended Alert/lag UnhealthyState'])

  workspace.write('manifests/orders.yaml', pipeManifest('orders', { replicas: 3 }))
  for (let restart = 1; restart <= 3; restart += 1) {
    await using program = start(workspace, platform.url)
    const url = await urlOf(program)
    await passes(url, 4)
    await until('the problem', () => told(hook).length >= 3)
    await stop(program)
  }
  expect(told(hook).slice(2)).toEqual(['began Pipe/orders NotUpdatable'])

  for (const { headers, body } of hook.requests) {
    const [id, time] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])]
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
    const signed = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signed}`)
  }
  const kept = readFileSync(workspace.path('ledger.db'), 'latin1')
  expect(kept).toContain('Pipe/orders')
  expect(kept).not.toMatch(/whsec|planted/)
})

test('a receiver that hangs holds up neither the work nor the end, and gets the problem after the next start', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  let hangs = true
  await using hook = await httpServer((response) => {
    if (!hangs) response.end('ok')
  })
  write(workspace, hook.url)
  platform.faults.add({ operation: 'createPipe', subject: 'unclear', fault: { type: 'cut-after' } })
  workspace.write('manifests/unclear.yaml', pipeManifest('unclear'))
  {
    await using program = start(workspace, platform.url)
    const url = await urlOf(program)
    await until('an attempt', () => hook.requests.length > 0)
    await passes(url, 2)
    expect(await metricOf(url, 'pipewright_notifications_waiting')).toBe(1)
    await stop(program)
  }
  hangs = false
  const before = hook.requests.length
  {
    await using program = start(workspace, platform.url)
    await urlOf(program)
    await until('the message', () => hook.requests.length > before)
    await stop(program)
  }
  expect(new Set(told(hook))).toEqual(new Set(['began Pipe/unclear OutcomeUnknown']))
  // The receiver can tell that it is the same message.
  expect(new Set(hook.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

test.each([
  ['planted-no-url', /notifications\/url is not an http or https URL/],
  ['', /the file .*notifications\/url is empty/],
  [undefined, /there is no file .*notifications\/url/],
])('a file with %j for the URL ends the start with 64', async (content, says) => {
  using workspace = createWorkspace()
  if (content !== undefined) workspace.write('credentials/notifications/url', content)
  furnish(workspace)
  const url = `file:${workspace.path('credentials/notifications/url')}`
  const { code, stderr } = await runHere(runArgs(workspace, 'http://127.0.0.1:9', ['--webhook-url', url]))
  expect(code).toBe(64)
  expect(stderr).toMatch(says)
  expect(stderr).not.toContain('planted')
})
