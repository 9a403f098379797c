import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { LINES } from '../../src/telemetry/event-table.ts'
import { httpServer } from '../platform/support/server.ts'
import {
  alertManifest,
  ALERTS_TOKEN,
  ENDPOINT,
  furnish,
  ORGANIZATION,
  pipeManifest,
  runArgs,
  SERVICE_ID,
} from '../support/manifests.ts'
import { startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { byResource, createNormaliser, createPretty, type LogLine } from './golden-log-lines.ts'
import { startPlatform } from '../support/platform.ts'

/* The log of a full story, as machines read it and as people do. A review sees each change of a line. */

const FILES = { json: 'golden-log.jsonl', pretty: 'golden-log.txt' } as const

const RENEW =
  'The log of the story is another one. If that is meant, renew its files with ' +
  '`GOLDEN=write npx vitest run test/main/golden-log.program.test.ts`, read the difference, and tell users in CHANGELOG.md.'

function writeSet(workspace: Workspace, hook: string): void {
  workspace.write('admin-token', 'golden-admin-token')
  workspace.write('hook-url', hook)
  furnish(workspace)
  workspace.write('manifests/endpoint.yaml', ENDPOINT)
  const firing = alertManifest('lag', 'alert-1').replace('spec:', 'policy: {healthyStates: [OK]}\nspec:')
  workspace.write('manifests/lag.yaml', firing)
  workspace.write('manifests/orders.yaml', pipeManifest('orders'))
}

const ARGS: readonly string[] = [
  '--interval=1h',
  '--concurrency=1',
  '--max-creates=5',
  '--log-level=trace',
  '--admin-token-file=DIR/admin-token',
  '--webhook-url=file:DIR/hook-url',
]

test('a full story is told in these lines', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  let hookIsDown = false
  await using hook = await httpServer((response) => response.writeHead(hookIsDown ? 503 : 204).end())
  writeSet(workspace, hook.url)
  await using program = startProgram(
    runArgs(
      workspace,
      platform.url,
      ARGS.map((arg) => arg.replace('DIR', workspace.dir)),
    ),
  )
  const url = await urlOf(program).catch((error: unknown) => {
    throw new Error(program.stderr(), { cause: error })
  })
  const normalise = createNormaliser(workspace.dir, new Set([ORGANIZATION, SERVICE_ID]))
  const story: LogLine[] = []
  let seen = 0

  const lines = () => program.log().slice(seen)
  const has = (msg: string, more: LogLine = {}) =>
    lines().some(
      (line) => line['msg'] === msg && Object.entries(more).every(([name, value]) => line[name] === value),
    )

  const count = (msg: string) => lines().filter((line) => line['msg'] === msg).length

  /** Does something, waits for its last line, and takes all lines until then. */
  async function step(title: string, act: () => void | Promise<void>, end: () => boolean): Promise<void> {
    await act()
    await until(title, end).catch((error: unknown) => {
      const told = lines().map((line) => JSON.stringify(line))
      throw new Error(`${title}:\n${told.join('\n')}`, { cause: error })
    })
    const told = lines()
    seen += told.length
    story.push({ step: title }, ...byResource(told.filter(({ level }) => level !== 'debug')).map(normalise))
    for (const line of told) assertDocumented(line)
  }

  async function look(key: string): Promise<void> {
    const headers = { authorization: 'Bearer golden-admin-token', 'content-type': 'application/json' }
    const reply = await fetch(`${url}/-/reconcile`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ key }),
    })
    expect(reply.status).toBe(202)
  }

  await step(
    'the first start: one pipe is created, one endpoint applied',
    () => undefined,
    () => {
      const ready = ['Service/analytics', 'QueryEndpoint/analytics', 'Alert/lag', 'Pipe/orders']
      return ready.every((key) => has('Reconciled', { key }))
    },
  )
  await step(
    'a field is misspelt',
    () => workspace.write('manifests/orders.yaml', pipeManifest('orders').replace('scaling', 'scalling')),
    () => has('Reconciled', { key: 'Pipe/orders' }) && has('Notification sent'),
  )
  await step(
    'and put right',
    () => workspace.write('manifests/orders.yaml', pipeManifest('orders')),
    () => has('Reconciled', { key: 'Pipe/orders' }) && has('Notification sent'),
  )
  await step(
    'somebody changes the pipe in the console, while the webhook is down',
    async () => {
      hookIsDown = true
      platform.change(platform.pipes()[0]?.id ?? '', { scaling: { replicas: 7 } })
      await look('Pipe/orders')
    },
    () => has('Problem found', { reason: 'Drifted' }) && has('Notification not sent'),
  )
  await step(
    'and back',
    async () => {
      hookIsDown = false
      await until('the receiver to be told', () => has('Notification sent'))
      platform.change(platform.pipes()[0]?.id ?? '', { scaling: { replicas: 1 } })
      await look('Pipe/orders')
    },
    // one tells of the drift, and one that it is over
    () => has('Problem over', { reason: 'Drifted' }) && count('Notification sent') === 2,
  )
  await step(
    'an alert fires',
    async () => {
      platform.setAlert('alert-1', { state: 'ALERT' })
      await look('Alert/lag')
    },
    () => has('Problem found', { key: 'Alert/lag' }) && has('Notification sent'),
  )
  await step(
    'a pipe refers to a secret that is not mounted',
    () => {
      const text = pipeManifest('waiting').replace('name: kafka', 'name: not-mounted')
      workspace.write('manifests/waiting.yaml', text)
    },
    () => has('Problem found', { key: 'Pipe/waiting' }) && has('Notification sent'),
  )
  await step(
    'and then it is',
    async () => {
      workspace.write('secrets/not-mounted/password', 'golden-password')
      await look('Pipe/waiting')
    },
    // a look of the retry may come in between, and refuses once more
    () => has('Problem over', { key: 'Pipe/waiting' }) && has('Notification sent'),
  )
  await step(
    'the reply to a create is lost',
    () => {
      platform.faults.add({ operation: 'createPipe', subject: 'unclear', fault: { type: 'cut-after' } })
      workspace.write('manifests/unclear.yaml', pipeManifest('unclear'))
    },
    () => has('Reconciled', { key: 'Pipe/unclear', result: 'unknown' }) && has('Notification sent'),
  )
  await step(
    'a person finds the pipe, and says so in its manifest',
    () => {
      const id = platform.pipes().find(({ name }) => name === 'unclear')?.id ?? ''
      workspace.write('manifests/unclear.yaml', pipeManifest('unclear', { more: `policy: {adopt: ${id}}` }))
    },
    () => has('Problem over', { key: 'Pipe/unclear' }) && has('Notification sent'),
  )
  await step(
    'too many creations are wanted at once',
    () => {
      const three = ['a', 'b', 'c'].map((name) => pipeManifest(name))
      workspace.write('manifests/three.yaml', three.join('---\n'))
    },
    () =>
      ['a', 'b', 'c'].every((name) => has('Reconciled', { key: `Pipe/${name}`, reason: 'CreateLimit' })) &&
      has('Problem found', { reason: 'CreateLimit' }) &&
      has('Notification sent'),
  )
  await step(
    'and are taken back: nothing was created, nothing is left',
    () => rmSync(workspace.path('manifests/three.yaml')),
    () =>
      ['a', 'b', 'c'].every((name) => has('Forgotten', { key: `Pipe/${name}` })) &&
      has('Problem over', { reason: 'CreateLimit' }) &&
      has('Notification sent'),
  )
  await step(
    'the manifest of a pipe is removed',
    () => rmSync(workspace.path('manifests/orders.yaml')),
    () => has('Problem found', { reason: 'Orphaned' }) && has('Notification sent'),
  )
  await step(
    'the credentials are refused',
    async () => {
      // What was created is read again after ten seconds, on a slow machine just then: it is read before, which says nothing new.
      for (const key of ['Pipe/waiting', 'Pipe/unclear']) {
        await look(key)
        await until(`${key} to be read`, () => has('Reconciled', { key }))
      }
      platform.setAccess({ credentials: [], alertTokens: [ALERTS_TOKEN] })
      await look('Pipe/unclear')
    },
    () => has('Problem found', { reason: 'AuthFailed' }) && has('Service paused') && has('Notification sent'),
  )
  await step(
    'the end',
    () => program.signal('SIGTERM'),
    () => has('Stopped'),
  )
  expect(await program.ended).toBe(0)

  const pretty = createPretty()
  const told = {
    json: `${story.map((line) => JSON.stringify(line)).join('\n')}\n`,
    pretty: `${story
      .map((line) => ('step' in line ? `\n# ${String(line['step'])}` : pretty(line)))
      .join('\n')
      .trim()}\n`,
  }
  for (const [form, name] of Object.entries(FILES)) {
    const file = fileURLToPath(new URL(name, import.meta.url))
    const text = told[form as keyof typeof FILES]
    if (process.env['GOLDEN'] === 'write') writeFileSync(file, text)
    expect(text, RENEW).toBe(readFileSync(file, 'utf8'))
  }
})

/** What `docs/reference/logs.md` says of a line holds for it. */
function assertDocumented(line: LogLine): void {
  const { level, time: _time, app, msg, revision: _revision, ...facts } = line
  const kind = LINES.find(({ message }) => message === msg)
  expect(app).toBe('pipewright')
  expect(Object.keys(kind?.levels ?? {}), `levels of "${String(msg)}"`).toContain(level)
  for (const field of Object.keys(facts)) expect(kind?.fields, `fields of "${String(msg)}"`).toContain(field)
}
