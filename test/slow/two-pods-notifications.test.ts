import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startApiModel } from '../kubernetes/api-model.ts'
import { startCountingPlatform } from '../kubernetes/counting-platform.ts'
import { acts, epochOf, passes, startPod, writeCommon } from '../kubernetes/pods.ts'
import { pipeManifest } from '../support/manifests.ts'
import { resourcesOf, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'

/* Two processes with one ledger and one receiver, which counts what it is told. */

const LEASE_MS = 1_000
const WAIT_MS = 3 * LEASE_MS

/** "began key reason" of each message, in order. */
async function startReceiver() {
  const told: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const { type, keys, problem } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
        type: string
        keys: string[]
        problem: string
      } // as docs/notifications.md says
      told.push(`${type.slice('problem.'.length)} ${keys.join(' ')} ${problem}`)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    told: (): readonly string[] => told,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function startWorld(stack: AsyncDisposableStack) {
  const workspace = stack.use(createWorkspace())
  const api = stack.use(await startApiModel())
  const platform = stack.use(await startCountingPlatform(() => 'answered'))
  const receiver = stack.use(await startReceiver())
  writeCommon(workspace)
  workspace.write('credentials/notifications/url', receiver.url)
  const settings = { 'webhook-url': `file:${workspace.path('credentials/notifications/url')}` }
  const options = { workspace, api, platform: platform.url, leaseMs: LEASE_MS, settings }
  const one = await startPod('one', options, stack)
  await acts(one)
  const two = await startPod('two', options, stack)
  await until('it to stand by', () => two.program.stdout().includes('standing by'))
  return { workspace, receiver, one, two }
}

const BROKEN = (name: string) => pipeManifest(name).replace('replicas: 1', 'replicas: many')
const INVALID = (name: string) => `began Pipe/${name} InvalidManifest`

test('what was told is not told again by the process that takes over, and what happened while nobody acted is told once', async () => {
  await using stack = new AsyncDisposableStack()
  const { workspace, receiver, one, two } = await startWorld(stack)
  workspace.write('manifests/known.yaml', BROKEN('known'))
  await until('it to be told', () => receiver.told().length === 1)
  expect(receiver.told()).toEqual([INVALID('known')])
  // It is given time to keep that it was told.
  await passes(500)
  two.program.signal('SIGSTOP')
  one.program.signal('SIGKILL')
  // Another mistake: equal ones are one problem.
  workspace.write('manifests/meanwhile.yaml', pipeManifest('meanwhile').replace('scaling:', 'scalling:'))
  await passes(WAIT_MS)
  two.program.signal('SIGCONT')
  await acts(two)
  await until('the other one to tell it', () => receiver.told().length === 2)
  await passes(WAIT_MS)
  expect(receiver.told().slice(1)).toEqual([INVALID('meanwhile')])
})

test.each(['cut', 'silent'] as const)(
  'a process whose way to the API is %s tells nothing that the one that took over tells',
  async (mode) => {
    await using stack = new AsyncDisposableStack()
    const { workspace, receiver, one, two } = await startWorld(stack)
    one.toApi.set(mode)
    await acts(two)
    workspace.write('manifests/news.yaml', BROKEN('news'))
    const url = await urlOf(one.program)
    await until('both to know it', async () =>
      (await resourcesOf(url)).some(({ key, status }) => key === 'Pipe/news' && status === 'Invalid'),
    )
    await passes(WAIT_MS)
    expect(receiver.told()).toEqual([INVALID('news')])
    // Nor at its end, and what it remembers takes the place of nothing that was told since.
    one.toApi.set('open')
    expect(await one.program.ended).toBe(1)
    await passes(500)
    expect(receiver.told()).toEqual([INVALID('news')])
    await one.again()
    await until('it to stand by', () => one.program.stdout().includes('standing by'))
    two.program.signal('SIGKILL')
    await acts(one)
    await passes(WAIT_MS)
    expect(receiver.told()).toEqual([INVALID('news')])
  },
)

test('a process that stood still tells nothing when it wakes up', async () => {
  await using stack = new AsyncDisposableStack()
  const { workspace, receiver, one, two } = await startWorld(stack)
  workspace.write('manifests/news.yaml', BROKEN('news'))
  // It has the news, and waits for more of them, when it stands still.
  await until('it to know it', async () =>
    (await resourcesOf(await urlOf(one.program))).some(({ key }) => key === 'Pipe/news'),
  )
  one.program.signal('SIGSTOP')
  await acts(two)
  await until('the other one to tell it', () => receiver.told().length > 0)
  one.program.signal('SIGCONT')
  expect(await one.program.ended).toBe(1)
  await passes(500)
  expect(receiver.told()).toEqual([INVALID('news')])
  expect(epochOf(two)).toBe(2)
})
