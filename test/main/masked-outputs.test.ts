import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../../src/cli/program.ts'
import { httpServer, type Received } from '../platform/support/server.ts'
import { runHere } from '../support/command.ts'
import {
  ORGANIZATION,
  pipeBody,
  pipeManifest,
  platformArgs,
  runArgs,
  SERVICE,
  SERVICE_ID,
  mountSecrets,
} from '../support/manifests.ts'
import { resourcesOf } from '../support/process.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

/* A platform repeats the secret of each pipe in one place of its replies, and no output of the program shows it. */

interface Answer {
  readonly status?: number
  readonly statusMessage?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly requestId?: string
  readonly body: unknown
}

interface Place {
  readonly is: string
  /** The status of the pipe in the end. */
  readonly status: string
  /** The reply to a create. */
  readonly create?: (pipe: object, secret: string) => Answer
  /** The reply to a reading. */
  readonly read?: (pipe: object, secret: string) => Answer
}

const found = (pipe: object, more: object = {}): Answer => ({ body: { result: { ...pipe, ...more } } })

const PLACES: readonly Place[] = [
  { is: 'a state', status: 'Ready', read: (pipe, secret) => found(pipe, { state: secret }) },
  {
    is: 'a state, as a part of the secret',
    status: 'NotReady',
    read: (pipe) => found(pipe, { state: 'Degraded' }),
  },
  {
    is: 'a word of a state',
    status: 'Progressing',
    read: (pipe, secret) => found(pipe, { state: `Waiting for ${secret}` }),
  },
  {
    is: 'a field',
    status: 'Drifted',
    read: (pipe, secret) => found(pipe, { source: { kafka: { brokers: secret, topics: [secret] } } }),
  },
  {
    is: 'the name of an item',
    status: 'Drifted',
    read: (pipe, secret) =>
      found(pipe, { fieldMappings: [{ sourceField: secret, destinationField: secret }] }),
  },
  {
    is: 'an unknown field',
    status: 'Ready',
    read: (pipe, secret) => found(pipe, { [secret]: { [secret]: secret } }),
  },
  { is: 'the name of the pipe', status: 'Drifted', read: (pipe, secret) => found(pipe, { name: secret }) },
  {
    is: 'the error of a create',
    status: 'Failed',
    create: (_pipe, secret) => ({ status: 400, body: { error: secret } }),
  },
  {
    is: 'the error of a create of unknown outcome',
    status: 'OutcomeUnknown',
    create: (pipe, secret) => ({ status: 500, body: { error: { message: `no ${secret}` }, result: pipe } }),
  },
  {
    is: 'the error of a reading',
    status: 'Failed',
    read: (_pipe, secret) => ({ status: 400, body: { error: secret } }),
  },
  {
    is: 'a page',
    status: 'Failed',
    read: (_pipe, secret) => ({ status: 502, body: `<title>${secret}</title>${secret}` }),
  },
  {
    is: 'a reply that is no JSON',
    status: 'Failed',
    read: (pipe, secret) => ({ body: `{"result": ${JSON.stringify(pipe)}, ${secret}` }),
  },
  {
    is: 'the headers of a success',
    status: 'Ready',
    read: (pipe, secret) => ({ ...found(pipe), headers: headersWith(secret), statusMessage: secret }),
  },
  {
    is: 'the headers of a redirect',
    status: 'Failed',
    read: (_pipe, secret) => ({ status: 302, headers: headersWith(secret), statusMessage: secret, body: '' }),
  },
  {
    is: 'the headers of a fault',
    status: 'Failed',
    read: (_pipe, secret) => ({ status: 503, headers: headersWith(secret), statusMessage: secret, body: '' }),
  },
  {
    is: 'the encoding of a reply',
    status: 'Ready',
    read: (pipe, secret) => ({ ...found(pipe), headers: { 'content-encoding': secret } }),
  },
  {
    is: 'the id of the request',
    status: 'Ready',
    create: (pipe, secret) => ({ ...found(pipe), requestId: secret }),
    read: (pipe, secret) => ({ ...found(pipe), requestId: secret }),
  },
  {
    is: 'the id of a request that failed',
    status: 'Failed',
    read: (pipe, secret) => ({ status: 500, requestId: secret, body: { result: pipe } }),
  },
  {
    is: 'the id of a new pipe',
    status: 'OutcomeUnknown',
    create: (pipe, secret) => found(pipe, { id: secret }),
  },
  {
    is: 'the id of the service of a new pipe',
    status: 'OutcomeUnknown',
    create: (pipe, secret) => found(pipe, { serviceId: secret }),
  },
  {
    is: 'the id of a pipe',
    status: 'Failed',
    read: (pipe, secret) => found(pipe, { id: secret }),
  },
]

function headersWith(secret: string): Readonly<Record<string, string>> {
  const names = [
    'retry-after',
    'location',
    'server',
    'x-request-id',
    'www-authenticate',
    'age',
    'date',
    'via',
  ]
  return Object.fromEntries(names.map((name) => [name, secret]))
}

interface Planted extends Place {
  readonly name: string
  readonly key: string
  readonly secret: string
}

/** A state that stands in a secret decides all the same. */
const planted: readonly Planted[] = PLACES.map((place, at) => ({
  ...place,
  name: `pipe-${at}`,
  key: `Pipe/pipe-${at}`,
  secret: at === 1 ? 'Snapshot!Degraded!7' : `Hq7/kV2"xe${at}-Lm4Zr5t`,
}))

/** The id of a pipe that no manifest has, and whose replies repeat the secret of another one. */
function looseId(at: number): string {
  return idOf(500 + at)
}

function idOf(at: number): string {
  return `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
}

/** Unknown fields with a secret that Pipewright does not send. */
const STRANGE_SECRET = 'strange-Kx93vQ'
const STRANGE = { passkey: STRANGE_SECRET, sshTunnel: { auth: STRANGE_SECRET, hops: [STRANGE_SECRET] } }

function answer(response: ServerResponse, request: Received): void {
  const sent = request.body === '' ? undefined : (JSON.parse(request.body) as { readonly name: string })
  const id = request.url.split('/').at(-1) ?? ''
  const at = planted.findIndex(
    ({ name }, index) => name === sent?.name || [idOf(index), looseId(index)].includes(id),
  )
  const place = planted[at]
  const own = { organizationId: ORGANIZATION, serviceId: SERVICE_ID, state: 'Running' }
  if (place === undefined) {
    reply(response, { status: 404, body: { error: 'there is none' } })
    return
  }
  const pipe = { ...pipeBody(place.name), ...own, ...STRANGE, id: request.method === 'POST' ? idOf(at) : id }
  const made = request.method === 'POST' ? place.create : place.read
  reply(response, made?.(pipe, place.secret) ?? found(pipe))
}

function reply(
  response: ServerResponse,
  { status = 200, statusMessage, headers, requestId, body }: Answer,
): void {
  const said =
    typeof body === 'string'
      ? body
      : JSON.stringify({ status, requestId: requestId ?? idOf(7), ...(body as object) })
  const all: IncomingHttpHeaders = { 'content-type': 'application/json', ...headers }
  if (statusMessage === undefined) response.writeHead(status, all)
  else response.writeHead(status, statusMessage, all)
  response.end(said)
}

const PATHS = [
  '/',
  '/metrics',
  '/healthz',
  '/readyz',
  ...['overview', 'attention', 'facets'].map((path) => `/api/v1/${path}`),
  ...['findings', 'timeline', 'history', 'resources', 'problems'].map((path) => `/api/v1/${path}?limit=500`),
  ...planted.map(({ key }) => `/api/v1/resources/${key}`),
]

const COMMANDS: readonly (readonly string[])[] = [
  ['plan', '-o', 'json'],
  ['plan', '-o', 'markdown'],
  ['plan'],
  ['status', '-o', 'json'],
  ['status'],
  ...planted.map(({ key }) => ['status', key]),
  ['history', '--limit', '500', '-o', 'json'],
  ['history', '--limit', '500'],
  ...planted.map((_place, at) => ['import', 'Pipe/loose', looseId(at), '--service', 'analytics']),
  ['adopt', 'Pipe/pipe-7', looseId(3)],
]

/** Much is tried again. */
const clock = createTurningClock()

/** Each output by its name. */
const outputs = new Map<string, string>()
const statuses = new Map<string, string>()

beforeAll(async () => {
  using workspace = createWorkspace()
  await using platform = await httpServer(answer)
  await using hook = await httpServer((response) => void response.writeHead(200).end())
  mountSecrets(workspace)
  workspace.write('manifests/service.yaml', SERVICE)
  workspace.write('credentials/notifications/webhook', `${hook.url}/hook`)
  for (const { name, secret } of planted) {
    workspace.write(`secrets/${name}/password`, secret)
    workspace.write(`manifests/${name}.yaml`, pipeManifest(name).replace('{name: kafka,', `{name: ${name},`))
  }
  const webhook = `--webhook-url=file:${workspace.path('credentials', 'notifications', 'webhook')}`
  const more = ['--log-level=trace', '--interval=1s', '--max-creates=100', webhook]
  await lookAtDaemon(runArgs(workspace, platform.url, more))
  outputs.set('the messages', hook.requests.map(({ body }) => body).join('\n'))
  // Some wait until they try again.
  await Promise.all(
    COMMANDS.map(async (command) => {
      const args = [...command, ...platformArgs(workspace, platform.url), '--api-budget', '1000/1s']
      const { stdout, stderr } = await runHere(args, {}, { clock })
      outputs.set(command.join(' '), stdout + stderr)
    }),
  )
  await lookAtLedger(workspace)
}, 120_000)

/** Runs a daemon in this process, until every pipe is where it belongs. */
async function lookAtDaemon(args: readonly string[]): Promise<void> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  let log = ''
  stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const errors = text(stderr)
  const stop = new AbortController()
  const never = new AbortController().signal
  const running = runCommand(
    {
      stdout,
      stderr,
      env: {},
      clock,
      stop: { stopping: stop.signal, forced: never, onHangup: () => undefined },
    },
    args,
  )
  try {
    const url = await until('the daemon to listen', () => /"listen":"([^"]+)"/.exec(log)?.[1])
    const settled = async () => {
      for (const { key, status } of await resourcesOf(url)) statuses.set(key, status)
      return planted.every(({ key, status }) => statuses.get(key) === status)
    }
    await until('every pipe to be where it belongs', settled).catch(() => undefined)
    for (const path of PATHS) {
      const answered = await fetch(url + path)
      outputs.set(path, await answered.text())
    }
  } finally {
    stop.abort(new Error('SIGTERM'))
    await running
    stderr.end()
  }
  outputs.set('the log', log)
  outputs.set('the standard error', await errors)
}

async function lookAtLedger(workspace: Workspace): Promise<void> {
  const ledger = workspace.path('ledger.db')
  const file = workspace.path('exported.ndjson')
  const { code } = await runHere(['ledger', 'export', file, '--ledger', `sqlite:${ledger}`])
  expect(code).toBe(0)
  outputs.set('the exported ledger', readFileSync(file, 'utf8'))
  outputs.set('the ledger', readFileSync(ledger, 'latin1'))
  outputs.set('the memory of messages', readFileSync(`${ledger}.notifications.json`, 'utf8'))
}

afterAll(() => outputs.clear())

test('a secret in an unknown field is in no output', () => {
  const shown = [...outputs].flatMap(([name, output]) => (output.includes(STRANGE_SECRET) ? [name] : []))
  expect(shown).toEqual([])
  expect(outputs.get(`import Pipe/loose ${looseId(0)} --service analytics`)).toContain(
    '#   spec.sshTunnel.hops[]: [text of 14 characters, not shown]',
  )
})

describe('a secret that the platform repeats in', () => {
  test.each(planted)('$is is in no output', ({ key, status, secret }) => {
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
    const shown = [...outputs].flatMap(([name, output]) =>
      forms
        .filter((form) => output.includes(form))
        .map((form) => {
          const at = output.indexOf(form)
          return `${name}: ${output.slice(Math.max(0, at - 100), at + 40)}`
        }),
    )
    expect(shown).toEqual([])
    expect(statuses.get(key)).toBe(status)
  })

  test('all these places is masked in every kind of output', () => {
    const masking = [...outputs].filter(([, output]) => output.includes('[secret]')).map(([name]) => name)
    expect(masking).toEqual(
      expect.arrayContaining([
        'the log',
        'the ledger',
        'the exported ledger',
        'the messages',
        'plan -o json',
        'status -o json',
        'history --limit 500 -o json',
        '/api/v1/resources?limit=500',
        '/api/v1/history?limit=500',
      ]),
    )
  })
})
