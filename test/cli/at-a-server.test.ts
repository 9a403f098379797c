import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import type { ResourceView } from '../../src/contract/view.ts'
import type { Overview, ServerParts } from '../../src/server/parts.ts'
import { boardOf, fakeOperator, fakeParts, finding, overview, resource, NOW } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { runHere } from '../support/command.ts'
import { startHere } from '../support/program-here.ts'
import { viewMessage } from '../support/messages.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { createWorkspace } from '../support/workspace.ts'

/* What commands ask of a daemon, and what they make of its answers. */

const TOKEN = 'planted-admin-token'
const FINE = resource('Pipe/orders')
const BAD = resource('Pipe/returns', {
  status: 'Drifted',
  reason: 'Drifted',
  message: 'Somebody changed it.',
})
const MANY = Array.from({ length: 21 }, (_, at) => `Pipe/p${at}` as const)

interface Daemon {
  resources: readonly ResourceView[]
  overview: Partial<Overview>
  /** Of a reconcile: how many are to come at each question, or how the daemon ended. */
  pending: (number | 'restarted' | 'stopped')[]
  /** It is starting for so many more calls. */
  starting: number
}

/** A daemon whose facts the test changes, and a command that asks it. */
async function daemon(of: Partial<Daemon> = {}) {
  const now: Daemon = { resources: [FINE], overview: {}, pending: [], starting: 0, ...of }
  const asked: (readonly [string | undefined, string])[] = []
  const parts: Partial<ServerParts> = {
    board: { get: (key) => boardOf(now.resources).get(key), list: () => now.resources },
    overview: () => overview({ adminTokenFile: '/token', ...now.overview }),
    operator: fakeOperator({
      adminToken: async () => TOKEN,
      request(key, accept) {
        asked.push([key, accept])
        return { token: 'tok-1', accepted: key === undefined ? 'all' : [key], suspended: [] }
      },
      operate({ command }) {
        if (now.starting-- > 0) return
        return Promise.resolve({ result: 'refused', message: `The server refuses ${command}.` })
      },
      async allow({ count, service }) {
        const allowed = service === undefined ? MANY : MANY.slice(1)
        return (count ?? MANY.length) < MANY.length ? { blocked: MANY.length } : { allowed }
      },
      progress() {
        const pending = now.pending.shift() ?? 0
        if (pending === 'restarted') return
        if (pending === 'stopped') void server.close()
        if (pending === 'stopped') return { done: false, pending: 1 }
        return { done: pending === 0, pending }
      },
    }),
  }
  const start = async (port = 0) => running(fakeParts({ ...parts, listen: { host: '127.0.0.1', port } }))
  const server = await start()
  const run = async (args: readonly string[], options: Parameters<typeof runHere>[2] = {}) => {
    using workspace = createWorkspace()
    workspace.write('token', TOKEN)
    const isRead = args[0] === 'status' || args[0] === 'history'
    const token = isRead ? [] : ['--admin-token-file', workspace.path('token')]
    using clock = createTurningClock()
    return await runHere([...args, '--server', server.url, ...token], {}, { clock, ...options })
  }
  return { now, asked, server, start, run }
}

test('reconcile says what became of what was asked for', async () => {
  const { asked, run } = await daemon({ resources: [FINE, BAD] })
  const one = await run(['reconcile', 'Pipe/orders', '--wait'])
  expect(one).toEqual({ code: 0, stdout: `Pipe/orders: Ready (InSync). ${viewMessage(FINE)}\n`, stderr: '' })
  const bad = await run(['reconcile', 'Pipe/returns', '--wait', '-o', 'json'])
  expect([bad.code, JSON.parse(bad.stdout)]).toEqual([
    1,
    expect.objectContaining({ done: true, key: 'Pipe/returns', status: 'Drifted' }),
  ])
  expect(asked).toEqual([
    ['Pipe/orders', 'normal'],
    ['Pipe/returns', 'normal'],
  ])
})

test('status of one resource says what to do, as the daemon does', async () => {
  const { server, run } = await daemon({ resources: [FINE, BAD] })
  const { next } = (await (await fetch(`${server.url}/api/v1/resources/Pipe/returns`)).json()) as {
    readonly next: readonly object[]
  }
  expect(next.length).toBeGreaterThan(0)
  const { code, stdout } = await run(['status', 'Pipe/returns', '-o', 'json'])
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { key: 'Pipe/returns', next }])
})

test('reconcile of all fails by what is wrong with the whole', async () => {
  const { now, asked, run } = await daemon()
  const fine = await run(['reconcile', '--wait'])
  expect([fine.code, fine.stdout]).toEqual([0, expect.stringMatching(/^RESOURCE.*\nPipe\/orders +Ready/)])
  now.overview = { sourceProblem: 'The manifests directory is missing.' }
  const whole = await run(['reconcile', '--wait', '--accept'])
  expect([whole.code, whole.stdout]).toEqual([
    1,
    expect.stringMatching(/^.*The manifests directory is missing\.\n\n/),
  ])
  expect(whole.stdout).toMatch(/^Manifests not accepted; keeping the last state\./)
  const empty = await daemon({ overview: now.overview, resources: [] })
  expect((await empty.run(['status'])).stdout).toContain('Manifests not accepted. The manifests directory')
  now.overview = {}
  now.resources = [FINE, BAD]
  const json = await run(['reconcile', '--wait', '-o', 'json'])
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
    1,
    { done: true, problems: [], resources: [{}, {}] },
  ])
  expect(asked.map(([, accept]) => accept)).toEqual(['normal', 'force', 'normal'])
})

test('reconcile waits, and not for ever', async () => {
  const { now, run } = await daemon({ pending: [2, 1] })
  expect((await run(['reconcile', '--wait', '--timeout', '10s'])).code).toBe(0)
  expect(now.pending).toEqual([])
  now.pending = Array<number>(99).fill(3)
  const late = await run(['reconcile', '--wait', '--timeout', '1s'])
  expect(late).toMatchObject({ code: 1, stdout: '' })
  expect(late.stderr).toContain('not finished within 1s, 3 left')
  expect(now.pending.length).toBeGreaterThanOrEqual(94) // asked each 250 ms
  now.pending = Array<number>(9).fill('\u001b[2J' as unknown as number)
  const odd = await run(['reconcile', '--wait', '--timeout', '1s'])
  expect([odd.code, odd.stderr]).toEqual([1, expect.stringContaining('not finished within 1s, 0 left')])
  const stopped = await run(['reconcile', '--wait'], { stopping: AbortSignal.abort('SIGTERM') })
  expect([stopped.code, stopped.stderr]).toEqual([1, 'pipewright: stopped by SIGTERM\n'])
  for (const [end, says] of [
    ['restarted', 'no reconcile has this token'],
    ['stopped', 'does not answer'],
  ] as const) {
    now.pending = [3, end]
    const { code, stdout, stderr } = await run(['reconcile', '--wait'])
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(says)])
  }
  const { stdout: help } = await runHere(['reconcile', '--help'])
  expect(help.replaceAll(/\s+/g, ' ')).toContain('wait at most this long. Default: 5m')
})

test('reconcile without --wait says that it was asked for, and of what is not there what is near', async () => {
  const { run } = await daemon()
  expect((await run(['reconcile'])).stdout).toMatch(/^All resources: a reconcile was requested/)
  expect((await run(['reconcile', 'Pipe/orders'])).stdout).toMatch(/^Pipe\/orders: a reconcile was requested/)
  expect(JSON.parse((await run(['reconcile', '-o', 'json'])).stdout)).toMatchObject({
    done: false,
    accepted: 'all',
  })
  for (const command of ['reconcile', 'history', 'status']) {
    const near = await run([command, 'Pipe/order'])
    expect([near.code, near.stdout]).toEqual([1, ''])
    expect(near.stderr).toMatch(/Did you mean "?Pipe\/orders"?\?/)
  }
})

test('reconcile needs the token, and the right one', async () => {
  const { server } = await daemon()
  using workspace = createWorkspace()
  workspace.write('wrong', 'planted-wrong')
  const none = await runHere(['reconcile', '--server', server.url])
  expect([none.code, none.stderr]).toEqual([64, expect.stringContaining('--admin-token-file FILE')])
  const wrong = await runHere([
    'reconcile',
    '--server',
    server.url,
    '--admin-token-file',
    workspace.path('wrong'),
  ])
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('the admin token is wrong')])
  expect(wrong.stderr).not.toContain('planted-wrong')
})

test('status --watch prints again after a change, once that the daemon is silent, and that it is back', async () => {
  const { now, server, start } = await daemon({ resources: [FINE, BAD] })
  using clock = createTurningClock(NOW)
  await using watching = startHere(['status', '--watch', '--server', server.url], clock)
  const lines = () => watching.stdout().trimEnd().split('\n')
  const says = async (text: RegExp) => {
    await expect.poll(() => lines().filter((line) => text.test(line))).toHaveLength(1)
  }
  await says(/^Pipe\/returns +Drifted/)
  const before = clock.monotonic()
  await expect.poll(() => clock.monotonic() - before).toBeGreaterThan(4_100) // two looks, and no change
  now.resources = [resource('Pipe/orders', { status: 'Progressing' })]
  await says(/^Pipe\/orders +Progressing/)
  now.overview = { findings: [finding()] }
  await says(/^Errors in manifests: 1/)
  now.overview = { startedAt: NOW }
  await expect.poll(() => lines().filter((line) => line.startsWith('RESOURCE'))).toHaveLength(4)
  await server.close()
  await says(/does not answer/)
  const silent = clock.monotonic()
  await expect.poll(() => clock.monotonic() - silent).toBeGreaterThan(4_100)
  await start(Number(new URL(server.url).port))
  await says(/^The daemon answers again\.$/)
  watching.signal('SIGINT')
  expect(await watching.ended).toBe(0)
  expect(lines().filter((line) => /does not answer|^RESOURCE/.test(line))).toHaveLength(5)
})

test('a command says what the server said, and without an answer whether it might be carried out', async () => {
  const { now, server, run } = await daemon({ starting: 2 })
  // In the profile of the server, alerts can be adopted.
  expect((await run(['adopt', 'Alert/lag', '66d0f1a2b3c4d5e6f7a8b9c2'])).stderr).toContain('refuses adopt')
  expect(now.starting).toBeLessThan(0)
  const json = await run(['suspend', 'Pipe/orders', '--reason', 'move', '-o', 'json'])
  const refused = { key: 'Pipe/orders', result: 'refused', message: 'The server refuses suspend.' }
  expect([json.code, JSON.parse(json.stdout)]).toEqual([1, refused])
  expect((await run(['allow', '--service', 'analytics'])).stdout).toMatch(/ {2}Pipe\/p20\nThe daemon creates/)
  const allowed = await run(['allow', '--dry-run'])
  expect([allowed.code, allowed.stdout.split('\n').slice(19)]).toMatchObject([
    0,
    [expect.anything(), '  Pipe/p19', '  and 1 more', expect.stringContaining('--count 21'), ''],
  ])
  expect(await run(['allow', '--count', '3'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('blocks 21 now, more than'),
  })
  await server.close()
  expect((await run(['resume', 'Pipe/orders'])).stderr).toMatch(/ECONNREFUSED(?!.*might still)/)
  await using cutting = createServer(({ socket }) => socket.destroy())
  await once(cutting.listen(Number(new URL(server.url).port), '127.0.0.1'), 'listening')
  expect((await run(['resume', 'Pipe/orders'])).stderr).toMatch(/cut.* The daemon might still carry out/)
})
