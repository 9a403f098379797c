import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { httpServer, type TestServer } from '../platform/support/server.ts'
import { alertManifest, mountSecrets, pipeManifest, runArgs, SERVICE } from '../support/manifests.ts'
import { runProgram, startProgram, urlOf, type Program } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { startPlatform } from '../support/platform.ts'

/* The real process, a platform and real receivers: create, turn bad, turn good, restart. */

const KEY = 'whsec_cGxhbnRlZC1zaWduaW5nLWtleQ=='

/** A webhook for all and a Slack channel for what is critical. */
function writeTargets(workspace: Workspace, webhook: string, slack: string): void {
  workspace.write('credentials/notifications/url', `${webhook}/hook`)
  workspace.write('credentials/notifications/signing-key', KEY)
  workspace.write('slack-url', `${slack}/services/T0/B0`)
  workspace.write(
    'notifications.yaml',
    `targets:
  - name: on-call
    type: webhook
    url: {secretRef: {name: notifications, key: url}}
    signingKey: {secretRef: {name: notifications, key: signing-key}}
    groupWait: 300ms
  - name: channel
    type: slack
    url: {file: ${workspace.path('slack-url')}}
    filter: {severity: critical}
    groupWait: 300ms
`,
  )
}

function writeManifests(workspace: Workspace): void {
  mountSecrets(workspace)
  workspace.write('manifests/service.yaml', SERVICE)
  workspace.write('manifests/orders.yaml', pipeManifest('orders'))
  workspace.write('manifests/refunds.yaml', pipeManifest('refunds'))
  const firing = alertManifest('lag', 'alert-1').replace('spec:', 'policy: {healthyStates: [OK]}\nspec:')
  workspace.write('manifests/lag.yaml', firing)
}

function start(workspace: Workspace, platform: string): Program {
  return startProgram(
    runArgs(workspace, platform, [
      '--interval',
      '1s',
      '--notifications',
      workspace.path('notifications.yaml'),
      '--public-url',
      'https://pipes.example',
    ]),
  )
}

interface Body {
  readonly id: string
  readonly news: readonly { readonly key: string; readonly change: string; readonly id: string }[]
}

/** `Pipe/orders bad` of each message, in the order of their coming. */
function sent({ requests }: TestServer): readonly string[] {
  return requests.flatMap(({ body }) =>
    (JSON.parse(body) as Body).news.map(({ key, change }) => `${key} ${change}`),
  )
}

function texts({ requests }: TestServer): readonly string[] {
  return requests.map(({ body }) => (JSON.parse(body) as { text: string }).text)
}

async function metricOf(url: string, sample: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${sample} `))
  return Number(line?.split(' ').at(-1))
}

async function stop(program: Program): Promise<void> {
  program.signal('SIGTERM')
  expect(await program.ended).toBe(0)
}

test('what is created, turns bad and good is sent once, over a restart too', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform({ provisioningMs: 0 })
  await using hook = await httpServer((response) => response.writeHead(204).end())
  await using slack = await httpServer((response) => response.end('ok'))
  writeManifests(workspace)
  writeTargets(workspace, hook.url, slack.url)
  {
    await using program = start(workspace, platform.url)
    const url = await urlOf(program)
    await until('both creations to be sent', () => sent(hook).length === 2)
    expect(sent(hook).toSorted()).toEqual(['Pipe/orders created', 'Pipe/refunds created'])

    platform.setAlert('alert-1', { state: 'ALERT' })
    await until('the alert to be sent', () => sent(hook).length === 3)
    expect(sent(hook).at(-1)).toBe('Alert/lag bad')
    platform.setAlert('alert-1', { state: 'OK' })
    await until('its end to be sent', () => sent(hook).length === 4)
    expect(sent(hook).at(-1)).toBe('Alert/lag good')

    platform.setAlert('alert-1', { state: 'ALERT' })
    await until('it to be held as flapping', async () => {
      return (await metricOf(url, 'pipewright_notifications_waiting{target="on-call"}')) === 1
    })
    expect(await metricOf(url, 'pipewright_notifications_total{target="on-call",result="delivered"}')).toBe(4)
    expect(await metricOf(url, 'pipewright_notifications_total{target="on-call",result="lost"}')).toBe(0)
    expect(await metricOf(url, 'pipewright_notifications_total{target="channel",result="delivered"}')).toBe(0)
    await stop(program)
  }
  expect(slack.requests).toEqual([])

  // While it is down, one turns bad; the alert is good again by now, and so nothing is left of its flapping.
  const before = sent(hook).length
  workspace.write('manifests/refunds.yaml', pipeManifest('refunds', { replicas: 3 }))
  platform.setAlert('alert-1', { state: 'OK' })
  {
    await using program = start(workspace, platform.url)
    const url = await urlOf(program)
    await until('what turned bad to be sent', () => sent(hook).length > before)
    const reconciled = () =>
      metricOf(url, 'pipewright_reconcile_total{kind="Pipe",action="observe",result="done"}')
    await until('a few more passes', async () => (await reconciled()) >= 4)
    await stop(program)
  }
  expect(sent(hook).slice(before)).toEqual(['Pipe/refunds bad'])
  {
    await using program = start(workspace, platform.url)
    const url = await urlOf(program)
    const reconciled = () =>
      metricOf(url, 'pipewright_reconcile_total{kind="Pipe",action="observe",result="done"}')
    await until('a few passes', async () => (await reconciled()) >= 3)
    await stop(program)
  }
  expect(sent(hook).slice(before)).toEqual(['Pipe/refunds bad'])

  for (const { headers, body } of hook.requests) {
    const [id, timestamp] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])]
    const key = Buffer.from(KEY.slice('whsec_'.length), 'base64')
    const signed = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signed}`)
    expect(JSON.parse(body)).toMatchObject({ id, page: 'https://pipes.example/' })
  }
  const kept = readFileSync(workspace.path('ledger.db.notifications.json'), 'utf8')
  expect(kept).toContain('Pipe/refunds')
  expect(kept).not.toMatch(/127\.0\.0\.1|whsec|services/)
})

test('a receiver that is down loses nothing, and one that hangs holds up neither the work nor the end', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform({ provisioningMs: 0 })
  let down = true
  await using hook = await httpServer((response) => response.writeHead(down ? 503 : 200).end())
  await using slack = await httpServer((response) => {
    if (!down) response.end('ok') // else it never answers
  })
  writeManifests(workspace)
  writeTargets(workspace, hook.url, slack.url)
  {
    await using program = start(workspace, platform.url)
    const url = await urlOf(program)
    await until('creations to be tried', () => hook.requests.length >= 1)
    await until('the pipes to be there', () => platform.pipes().length === 2)
    platform.faults.add({ operation: 'createPipe', subject: 'unclear', fault: { type: 'cut-after' } })
    workspace.write('manifests/unclear.yaml', pipeManifest('unclear'))
    await until('the critical one to be under way', () => slack.requests.length >= 1)
    expect(await metricOf(url, 'pipewright_notifications_waiting{target="channel"}')).toBe(1)
    await stop(program)
  }
  down = false
  const [before, asked] = [hook.requests.length, slack.requests.length]
  const later = () => hook.requests.slice(before).flatMap(({ body }) => (JSON.parse(body) as Body).news)
  {
    await using program = start(workspace, platform.url)
    await urlOf(program)
    await until('what is pending to be sent', () => later().length >= 3 && slack.requests.length > asked)
    await stop(program)
  }
  expect(
    later()
      .map(({ key, change }) => `${key} ${change}`)
      .toSorted(),
  ).toEqual(['Pipe/orders created', 'Pipe/refunds created', 'Pipe/unclear bad'])
  expect(texts(slack).at(-1)).toBe('Pipe/unclear may or may not have been created.')
  // The same under the same id, so that a receiver that had it can tell.
  expect(new Set(slack.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

test('a reference that leads nowhere ends the start with 64, its place and no secret', async () => {
  using workspace = createWorkspace()
  writeManifests(workspace)
  workspace.write('credentials/notifications/url', 'planted-no-url')
  workspace.write(
    'notifications.yaml',
    `targets:
  - {name: a, type: slack, url: {secretRef: {name: notifications, key: url}}}
  - {name: b, type: slack, url: {secretRef: {name: notifications, key: gone}}}
`,
  )
  const args = runArgs(workspace, 'http://127.0.0.1:9', [
    '--notifications',
    workspace.path('notifications.yaml'),
  ])
  const { code, stderr } = await runProgram(args)
  expect(code).toBe(64)
  expect(stderr).toMatch(/notifications\.yaml:2:33: .*notifications\/url does not hold an http or https URL/)
  expect(stderr).toMatch(/notifications\.yaml:3:33: there is no file .*notifications\/gone/)
  expect(stderr).not.toContain('planted')
})
