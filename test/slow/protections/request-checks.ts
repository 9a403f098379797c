import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { ENDPOINT, mountSecrets, pipeManifest, runArgs, SERVICE } from '../../support/manifests.ts'
import { startProgram } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { createWorkspace } from '../../support/workspace.ts'
import { nameIn, ownError, type FakeRequest } from '../support/fake-platform.ts'
import type { Live } from '../../support/live.ts'
import { untilStill } from '../support/still.ts'
import type { Story } from '../support/story.ts'
import { waitingFor } from '../support/waiting.ts'
import { storyCheck } from './belief-checks.ts'
import type { Check } from './mutation.ts'

/* Checks of requests that wait, that come late, that end without a reply, and that are said again. */

const KEY = 'Pipe/orders'
/** Longer than a create may wait between its intent and its bytes, which is 5 s. */
const STILL_MS = 6_500
/** Opens the endpoint to everybody. */
const OPEN = ENDPOINT.replace('https://app.example', '"*"')

export function suspendedMeanwhile(): Check {
  return storyCheck('a create waits for a place, and its manifest is suspended', async (story) => {
    const { platform } = story
    const live = await waitingFor(story, 'the budget has no place', () => story.writePipe('orders'))
    const suspend = '{reason: not yet, until: "2099-01-01T00:00:00Z"}'
    await live.reads(() => story.writePipe('orders', { policy: { suspend } }))
    await until(
      'it to be suspended, or made',
      async () => platform.posts('orders').length > 0 || (await live.resource(KEY))?.reason === 'Suspended',
    )
    return platform.posts('orders').length > 0 ? 'law 10: it was made all the same' : undefined
  })
}

function upserts({ platform }: Story): readonly FakeRequest[] {
  return platform.requests.filter(({ operation }) => operation === 'upsertQueryEndpoint')
}

function isOpen({ text }: FakeRequest): boolean {
  return text.includes('"*"')
}

export function correctedMeanwhile(): Check {
  return storyCheck('an upsert waits for a place, and its manifest is corrected', async (story) => {
    const { workspace } = story
    const write = () => workspace.write('manifests/endpoint.yaml', OPEN)
    const live = await waitingFor(story, 'the budget has no place', write)
    await live.reads(() => workspace.write('manifests/endpoint.yaml', ENDPOINT))
    await until('an upsert', () => upserts(story)[0]?.whole)
    return upserts(story).some(isOpen) ? 'law 10: the endpoint was opened to everybody' : undefined
  })
}

export function correctedBeforeTheRetry(): Check {
  return storyCheck('an upsert is answered 503, and its manifest is corrected', async (story) => {
    const { platform, workspace } = story
    const live = await story.start()
    const held = Promise.withResolvers<void>()
    platform.decide = ({ operation }) =>
      operation === 'upsertQueryEndpoint' && upserts(story).length === 1
        ? { ...ownError(503), before: () => held.promise }
        : undefined
    workspace.write('manifests/endpoint.yaml', OPEN)
    await until('the first attempt', () => upserts(story).length === 1)
    await live.reads(() => workspace.write('manifests/endpoint.yaml', ENDPOINT))
    held.resolve()
    await until('another', () => upserts(story)[1]?.whole)
    const [, ...later] = upserts(story)
    return later.some(isOpen) ? 'law 10: the endpoint was opened to everybody' : undefined
  })
}

/** How the other side of a connection ended it: with a FIN, after which its kernel still delivers, or with a reset. */
async function endOf(socket: Socket): Promise<'closed' | 'reset'> {
  return new Promise((resolve) => {
    socket.once('end', () => resolve('closed'))
    socket.once('error', () => resolve('reset'))
  })
}

export function noReply(): Check {
  return {
    name: 'a create that is not answered',
    async run({ main }) {
      using workspace = createWorkspace()
      mountSecrets(workspace)
      workspace.write('manifests/service.yaml', SERVICE)
      workspace.write('manifests/orders.yaml', pipeManifest('orders'))
      const end = Promise.withResolvers<'closed' | 'reset'>()
      const sockets: Socket[] = []
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        sockets.push(socket)
        socket.resume()
        void endOf(socket).then(end.resolve)
      })
      await using stack = new AsyncDisposableStack()
      stack.defer(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve)
      })
      const { port } = server.address() as AddressInfo // it listens on a port
      const args = runArgs(workspace, `http://127.0.0.1:${port}`, ['--request-timeout', '1s'])
      stack.use(startProgram(args, { main }))
      return (await end.promise) === 'reset' ? [] : ['its connection was closed, and not reset']
    },
  }
}

export function stoodStill(): Check {
  return storyCheck('a process that stood still before the bytes of its create', async (story) => {
    const { platform } = story
    story.writePipe('orders')
    const env = { PIPEWRIGHT_FAILPOINT: 'after-connect=pause' }
    const live = await story.start(['--interval', '1s', '--request-timeout', '20s'], { env })
    await untilStill(live.program.pid)
    await pause(STILL_MS)
    live.program.signal('SIGCONT')
    await live.says(KEY, 'Ready')
    const [first] = (await live.history(KEY)).flatMap(({ intentId }) => intentId ?? [])
    const wasSent = platform.posts().some(({ idempotencyKey }) => idempotencyKey === first)
    return wasSent ? 'its first request was sent all the same' : undefined
  })
}

/** A daemon whose only create was cut before the work, and its intent. */
async function cutOnce(story: Story, speed: number): Promise<readonly [Live, string]> {
  const { platform } = story
  platform.decide = (request) =>
    nameIn(request) === 'orders' && platform.posts('orders').length === 1
      ? { work: false, sends: 'nothing', ends: 'reset' }
      : undefined
  story.writePipe('orders')
  const live = await story.start(['--interval', '1s'], { speed })
  await live.says(KEY, 'OutcomeUnknown')
  const [intent = 'none'] = (await live.history(KEY)).flatMap(({ intentId }) => intentId ?? [])
  return [live, intent]
}

export function retriedTooEarly(): Check {
  return storyCheck('a person says --retry right after a create without a reply', async (story) => {
    await cutOnce(story, 1)
    const { code } = await story.run(['resolve', KEY, '--retry'])
    return code === 0 ? 'law 1: it was accepted while the first may still arrive' : undefined
  })
}

export function retriedTooEarlyInGit(): Check {
  return storyCheck('policy.retryCreate is written right after a create without a reply', async (story) => {
    const { platform } = story
    const [live, intent] = await cutOnce(story, 1)
    await live.reads(() => story.writePipe('orders', { policy: { retryCreate: intent } }))
    await until(
      'it to be told, or made',
      async () =>
        platform.posts('orders').length > 1 ||
        (await live.resource(KEY))?.message.includes('remove the line, and add it again') === true,
    )
    return platform.posts('orders').length > 1
      ? 'law 1: it was made while the first may still arrive'
      : undefined
  })
}

/** An id in a reply that is none. */
const NO_ID = 'orders'

export function badId(): Check {
  return storyCheck('a create is answered with an id that is none', async (story) => {
    const { platform } = story
    platform.decide = ({ operation }) =>
      operation === 'createPipe'
        ? {
            body: ({ json }) => JSON.stringify({ ...json, result: { ...Object(json['result']), id: NO_ID } }),
          }
        : undefined
    story.writePipe('orders')
    const live = await story.start()
    const shown = await until('it to be judged', async () => {
      const resource = await live.resource(KEY)
      return resource?.pipeId !== undefined || resource?.status === 'OutcomeUnknown' ? resource : undefined
    })
    return shown.pipeId === undefined ? undefined : `the id ${shown.pipeId} was believed`
  })
}
