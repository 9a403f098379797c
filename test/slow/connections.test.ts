import { connect, type Socket } from 'node:net'
import { readdirSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { mountSecrets, pipeManifest, runArgs, SERVICE } from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { resourcesOf, startProgram, urlOf, type Program } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'

/* Somebody who reaches the port, with many connections, against the real program under 1,024 descriptors. */

const DESCRIPTORS = 1_024

/** More than there are descriptors. */
const HALF_OPEN = 1_100

const SILENT = 2_000

/** From a change of a file until its request: what the watcher waits for more of the same, and a second. */
const DEBOUNCE_MS = 250
const LIMIT_MS = DEBOUNCE_MS + 1_000

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

function under(descriptors: number): readonly string[] {
  return ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh']
}

test('under 1,100 half-open requests, 2,000 silent connections and long queries, a change still goes out', async () => {
  using workspace = createWorkspace()
  mountSecrets(workspace)
  await using platform = await startPlatform()
  workspace.write('manifests/service.yaml', SERVICE)
  workspace.write('manifests/first.yaml', pipeManifest('first'))
  await using program = startProgram(runArgs(workspace, platform.url, ['--metrics-listen', '127.0.0.1:0']), {
    through: under(DESCRIPTORS),
  })
  const url = await urlOf(program)
  await until('the first pipe', async () =>
    (await resourcesOf(url)).every(({ status }) => status === 'Ready'),
  )

  startAttack(new URL(url))
  await until('the attack to be on', () => attack.sockets.size > DESCRIPTORS / 4)
  await new Promise((resolve) => setTimeout(resolve, 3_000)) // an attack that lasts, not its first moment

  const took: number[] = []
  for (const name of ['second', 'third', 'fourth']) {
    const changedAt = performance.now()
    workspace.write(`manifests/${name}.yaml`, pipeManifest(name))
    await until(`the pipe ${name} to be asked for`, () => platform.pipes().some((pipe) => pipe.name === name))
    took.push(performance.now() - changedAt)
  }
  expect(Math.min(...took), `${took.join(', ')}\n${program.stdout().slice(-2_000)}`).toBeLessThan(LIMIT_MS)

  const probe = await fetch(`${metricsUrlOf(program)}/healthz`, { signal: AbortSignal.timeout(10_000) })
  expect(probe.status).toBe(200)
  // A person still gets in, with a connection of their own.
  const page = await fetch(`${url}/`, {
    headers: { connection: 'close' },
    signal: AbortSignal.timeout(10_000),
  })
  expect(page.status).toBe(200)
  expect(readdirSync(`/proc/${program.pid}/fd`).length).toBeLessThan(DESCRIPTORS - 200)
  expect(program.stdout()).not.toContain('Mount the secret')
  expect(program.stdout()).not.toContain('EMFILE')
  stopAttack()
  program.signal('SIGTERM')
  expect(await program.ended).toBe(0)
})

test('what does not come is ended after its time', async () => {
  using workspace = createWorkspace()
  mountSecrets(workspace)
  await using platform = await startPlatform()
  workspace.write('manifests/service.yaml', SERVICE)
  await using program = startProgram(runArgs(workspace, platform.url))
  const url = new URL(await urlOf(program))
  const lived = (text: string) =>
    new Promise<number>((resolve) => {
      const startedAt = performance.now()
      const socket = connect(Number(url.port), url.hostname, () => socket.write(text))
      attack.sockets.add(socket)
      socket.on('error', () => undefined).on('data', () => undefined)
      socket.on('close', () => resolve(performance.now() - startedAt))
    })
  const head = 'POST /-/reconcile HTTP/1.1\r\nHost: 127.0.0.1\r\n'
  const times = await Promise.all([
    lived(''),
    lived('GET / HT'),
    lived(`${head}X-Half: `),
    lived(`${head}Content-Length: 100\r\n\r\nhalf`),
  ])
  for (const time of times) {
    expect(time).toBeGreaterThan(9_000)
    expect(time).toBeLessThan(20_000)
  }
})

test('where there are too few descriptors even so, that is said, and it goes on once there are', async () => {
  using workspace = createWorkspace()
  mountSecrets(workspace)
  await using platform = await startPlatform()
  workspace.write('manifests/service.yaml', SERVICE)
  const args = runArgs(workspace, platform.url)
  const inUse = await (async () => {
    await using program = startProgram(args)
    await urlOf(program)
    await until('the manifests to be read', () => program.log().some(({ msg }) => msg === 'Manifests read'))
    return readdirSync(`/proc/${program.pid}/fd`).length
  })()
  await using program = startProgram(args, { through: under(inUse + 6) })
  const url = await urlOf(program)
  await until('the manifests to be read', () => program.log().some(({ msg }) => msg === 'Manifests read'))
  attack.going = true
  for (let n = 0; n < 100; n += 1) hold(new URL(url), 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ')
  const line = await until('it to be said', () =>
    program.log().find(({ msg }) => msg === 'No descriptor left for a connection'),
  )
  expect(line).toMatchObject({ level: 'error', code: 'EMFILE', limit: inUse + 6 })
  expect(line['detail']).toContain('Raise the limit of open files')
  stopAttack()
  const answers = () => fetch(`${url}/healthz`).then(({ ok }) => ok)
  await until('it to answer again', answers)
  program.signal('SIGTERM')
  expect(await program.ended).toBe(0)
})
