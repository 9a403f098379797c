import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { furnish, pipeManifest, runArgs } from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { resourcesOf, startProgram, urlOf, type Program } from '../support/process.ts'
import { LIMIT_MS, until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import type { Sandbox } from '../../src/sandbox/sandbox-server.ts'
import type { OverviewReply } from '../../src/server/api/overview.ts'

/* Somebody who reaches the port, with many connections, against the real program under 1,024 descriptors. */

const DESCRIPTORS = 1_024

/** More than there are descriptors. */
const HALF_OPEN = 1_100

const SILENT = 2_000

/** For all that is tried in one test. */
const ENOUGH_CREATES = ['--max-creates', '1000']

const WORDS = Array.from({ length: 7_500 }, () => 'a').join('+')

const attack = { going: false, sockets: new Set<Socket>() }

afterEach(() => stopAttack())

function stopAttack(): void {
  attack.going = false
  for (const socket of attack.sockets) socket.destroy()
  attack.sockets.clear()
}

/** Opens a connection that says `text` and then nothing, and another one when it is ended. */
function hold(url: URL, text: string): void {
  const socket = connect(Number(url.port), url.hostname, () => socket.write(text))
  attack.sockets.add(socket)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    attack.sockets.delete(socket)
    setTimeout(() => attack.going && hold(url, text), 1_000).unref()
  })
}

async function askAgainAndAgain(url: URL): Promise<void> {
  while (attack.going) {
    await fetch(new URL(`/api/v1/resources?q=${WORDS}`, url))
      .then((reply) => reply.arrayBuffer())
      .catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 1).unref())
  }
}

function startAttack(url: URL): void {
  attack.going = true
  for (let n = 0; n < HALF_OPEN; n += 1) hold(url, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ')
  for (let n = 0; n < SILENT; n += 1) hold(url, '')
  for (let n = 0; n < 8; n += 1) void askAgainAndAgain(url)
}

/** Where probes and metrics are served. */
function metricsUrlOf(program: Program): string {
  const started = program.log().find(({ msg }) => msg === 'Started')
  return String(started?.['metricsListen'] ?? started?.['listen'])
}

/** The status of a GET over a new connection, as a kubelet makes it. `fetch` may reuse a connection that the attack holds. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(LIMIT_MS)
    const request = get(url, { agent: false, signal }, (reply) => {
      reply
        .resume()
        .on('error', reject)
        .on('end', () => resolve(reply.statusCode))
    })
    request.on('error', reject)
  })
}

function under(descriptors: number): readonly string[] {
  return ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh']
}

test.each([
  ['a port of their own', ['--metrics-listen', '127.0.0.1:0']],
  ['the same port', []],
])(
  'under 1,100 half-open requests, 2,000 silent connections and long queries, a change still goes out, and probes and metrics on %s answer',
  async (_, listen) => {
    using workspace = createWorkspace()
    await using platform = await startPlatform()
    furnish(workspace, 'first')
    await using program = startProgram(runArgs(workspace, platform.url, [...ENOUGH_CREATES, ...listen]), {
      through: under(DESCRIPTORS),
    })
    const url = await urlOf(program)
    await until('the first pipe', async () =>
      (await resourcesOf(url)).every(({ status }) => status === 'Ready'),
    )

    startAttack(new URL(url))
    await until('the attack to be on', () => attack.sockets.size > DESCRIPTORS / 4)
    await goOut(workspace, platform)
    // The kubelet and Prometheus ask again, and so does a browser, if a connection is closed before there was a reply.
    for (const path of ['healthz', 'readyz', 'metrics'])
      await until(path, async () => (await statusOf(`${metricsUrlOf(program)}/${path}`)) === 200)
    await until('the page', async () => (await statusOf(`${url}/`)) === 200)
    expect(readdirSync(`/proc/${program.pid}/fd`).length).toBeLessThan(DESCRIPTORS - 200)
    expect(program.stdout()).not.toContain('Mount the secret')
    expect(program.stdout()).not.toContain('EMFILE')
    expect(program.stdout()).not.toContain('The HTTP server failed')
    stopAttack()
    program.signal('SIGTERM')
    expect(await program.ended).toBe(0)
  },
)

/** Requests in one packet, each for the largest reply. */
const AHEAD = 'GET /api/v1/resources HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(1_000)

const MANY = 1_000

/** A thousand manifests that ask for nothing, because they are suspended. */
function writeMany(workspace: Workspace): void {
  const names = Array.from({ length: MANY }, (_, index) => `many-${index}`)
  const documents = names.map((name) =>
    pipeManifest(name, { policy: { suspend: '{reason: later, until: 2099-01-01T00:00:00Z}' } }),
  )
  workspace.write('manifests/many.yaml', documents.join('---\n'))
}

async function overviewOf(url: string) {
  const reply = await fetch(`${url}/api/v1/overview`)
  return (await reply.json()) as OverviewReply // of our API
}

/** One after the other, so that an attack lasts: each new manifest must lead to its request. How soon is a matter of `test/server/request-turns.test.ts`. */
async function goOut(workspace: Workspace, platform: Sandbox): Promise<void> {
  for (const name of ['loud-0', 'loud-1', 'loud-2', 'loud-3', 'loud-4']) {
    workspace.write(`manifests/${name}.yaml`, pipeManifest(name))
    await until(`the pipe ${name} to be asked for`, () => platform.pipes().some((pipe) => pipe.name === name))
  }
}

/** Asks for a path as often as it is answered. */
async function askForEver(url: URL): Promise<void> {
  while (attack.going) {
    await fetch(url)
      .then((reply) => reply.arrayBuffer())
      .catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 1).unref())
  }
}

test.each<readonly [string, (url: URL) => void]>([
  [
    '20 connections with a thousand requests ahead in each',
    // They are told by the memory that their replies would take.
    (url) => {
      for (let n = 0; n < 20; n += 1) hold(url, AHEAD)
    },
  ],
  [
    '200 clients that ask for the longest list without a pause',
    (url) => {
      for (let n = 0; n < 200; n += 1) void askForEver(new URL('/api/v1/resources', url))
    },
  ],
])('under %s, a change still goes out', async (_, begin) => {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  furnish(workspace)
  writeMany(workspace)
  await using program = startProgram(runArgs(workspace, platform.url, ENOUGH_CREATES), {
    through: under(DESCRIPTORS),
  })
  const url = await urlOf(program)
  await until('all to be there', async () => (await overviewOf(url)).counts.Suspended === MANY)
  const memory = memoryOf(program)

  attack.going = true
  begin(new URL(url))
  await goOut(workspace, platform)
  expect(memoryOf(program) - memory).toBeLessThan(200)
  stopAttack()
  program.signal('SIGTERM')
  expect(await program.ended).toBe(0)
})

/** MiB of the process that are in memory. */
function memoryOf({ pid }: Program): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
}

test('what does not come is ended after its time', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  furnish(workspace)
  await using program = startProgram(runArgs(workspace, platform.url))
  const url = new URL(await urlOf(program))
  const ended = (port: number, text: string) =>
    new Promise<void>((resolve) => {
      const socket = connect(port, url.hostname, () => socket.write(text))
      attack.sockets.add(socket)
      socket.on('error', () => undefined).on('data', () => undefined)
      socket.on('close', () => resolve())
    })
  const head = 'POST /-/reconcile HTTP/1.1\r\nHost: 127.0.0.1\r\n'
  const texts = ['', 'GET / HT', `${head}X-Half: `, `${head}Content-Length: 100\r\n\r\nhalf`]
  // A server with the limits of Node itself, which are longer, has the first of them still.
  const usual = createServer().listen(0, url.hostname)
  await once(usual, 'listening')
  try {
    const { port } = usual.address() as AddressInfo // it listens on TCP
    const order: string[] = []
    await Promise.race([
      Promise.all(texts.map((text) => ended(Number(url.port), text))).then(() => order.push('ours')),
      ...texts.map((text) => ended(port, text).then(() => order.push('usual'))),
    ])
    expect(order).toEqual(['ours'])
  } finally {
    usual.close()
    usual.closeAllConnections()
  }
})
