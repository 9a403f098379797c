import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { RemoteError } from '../../src/contract/remote-error.ts'
import type { ReconcileResult } from '../../src/reconcile/context.ts'
import { envelope, platform, secretsOf } from '../platform/support/platform.ts'
import { httpServer, type Received } from '../platform/support/server.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'
import { createSurroundings, given, HOUR, MINUTE, SECOND, type Given } from './given.ts'
import { LISTING } from './given-listing.ts'
import { pipe } from './manifests.ts'
import type { ModelPipe } from './model-platform.ts'

/*
 * A create and its looks in a budget that has no room for them at once: they go one after the other, each in its place. With the real
 * client, over a connection; by a clock that goes on only while somebody waits for a place.
 */

const ORDERS: Key = 'Pipe/orders'

interface Asked {
  readonly what: 'list' | 'get' | 'post'
  /** On the monotonic clock, ms. */
  readonly at: number
  readonly body: string
}

interface World extends AsyncDisposable {
  readonly given: Given
  readonly asked: readonly Asked[]
  readonly pipes: Map<string, ModelPipe>
  /** Goes on until it is over. @param meanwhile called before each step of a second */
  ended<T>(promise: Promise<T>, meanwhile?: () => unknown): Promise<T>
  go(key: Key, meanwhile?: () => unknown): Promise<ReconcileResult>
}

const ACCESS = { name: 'analytics', organizationId: ORGANIZATION, serviceId: SERVICE_ID, secretName: 'api' }

const KEYS = new Map([
  ['api/keyId', 'id'],
  ['api/keySecret', 'secret'],
])

async function world(
  budget: { readonly requests: number; readonly windowMs: number },
  files: Readonly<Record<string, string>>,
  profile = LISTING,
): Promise<World> {
  const stack = new AsyncDisposableStack()
  const around = createSurroundings()
  const { clock } = around
  const asked: Asked[] = []
  const server = stack.use(await httpServer((response, request) => void serve(request, response)))
  const { client } = stack.use(platform({ baseUrl: server.url, secrets: secretsOf(KEYS), budget, clock }))
  const process = await given(files, { around, profile, platform: client })
  const open = stack.move()

  async function ended<T>(promise: Promise<T>, meanwhile: () => unknown = () => undefined): Promise<T> {
    const state = { isOver: false }
    const over = () => {
      state.isOver = true
    }
    promise.then(over, over)
    while (!state.isOver) {
      // while a request is on its way, time stands still
      if (client.budgets().some(({ waiting }) => waiting > 0)) {
        await meanwhile()
        await clock.advance(SECOND)
      } else await setImmediate()
    }
    return promise
  }

  async function serve({ method, url, headers, body }: Received, response: ServerResponse): Promise<void> {
    const id = url.split('/').at(-1) ?? ''
    const what = method === 'POST' ? 'post' : id.endsWith('pipes') ? 'list' : 'get'
    asked.push({ what, at: clock.monotonic(), body })
    const options = { priority: 0, signal: new AbortController().signal } as const
    const { platform: model } = around
    try {
      if (what === 'list') return void response.end(envelope((await model.list(PIPE, ACCESS, options)).value))
      if (what === 'get') {
        const { value } = await model.read({ kind: PIPE, service: ACCESS, id }, options)
        return void response.end(envelope(value))
      }
      const permit = await model.admitCreate(PIPE, ACCESS, { ...options, looks: 0 })
      const intentId = String(headers['idempotency-key'])
      const { value } = await permit.send({ body, intentId, notAfter: Infinity })
      response.end(envelope(value))
    } catch (error) {
      const status = error instanceof RemoteError ? (error.facts.httpStatus ?? 500) : 500
      // The same id again would be an answer from a cache.
      const fresh = String(asked.length).padStart(12, '0')
      response.writeHead(status).end(envelope(undefined, status).replace(/\d{12}(?=")/, fresh))
    }
  }

  return {
    given: process,
    asked,
    pipes: around.platform.pipes,
    ended,
    go: (key, meanwhile) => ended(process.begin(key), meanwhile),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

/** The most requests in any time of the length of the window. */
function most(asked: readonly Asked[], windowMs: number): number {
  return Math.max(
    ...asked.map(({ at }) => asked.filter((one) => one.at >= at && one.at < at + windowMs).length),
  )
}

const BUDGETS = [
  { requests: 1, windowMs: 10 * SECOND },
  { requests: 1, windowMs: 40 * SECOND },
  { requests: 1, windowMs: 10 * MINUTE },
  { requests: 2, windowMs: MINUTE },
  { requests: 3, windowMs: 2 * MINUTE },
] as const

describe.each(BUDGETS)('with $requests request(s) in $windowMs ms', (budget) => {
  test('a new pipe is created, and the list is no older than the wait for a place', async () => {
    await using w = await world(budget, { 'orders.yaml': pipe('orders') })
    expect((await w.go(ORDERS)).action).toMatchObject({ type: 'create', reason: 'New' })
    expect(w.pipes.size).toBe(1)
    expect(w.asked.length).toBeLessThanOrEqual(3)
    const post = w.asked.at(-1)
    const list = w.asked.findLast(({ what }) => what === 'list')
    expect(post?.what).toBe('post')
    const wait = budget.requests === 1 ? budget.windowMs * 1.03 : 0
    expect((post?.at ?? 0) - (list?.at ?? 0)).toBeLessThanOrEqual(wait + 10 * SECOND)
    expect(most(w.asked, budget.windowMs)).toBeLessThanOrEqual(budget.requests)
  })

  test('five new pipes are created, one after the other, each once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    await using w = await world(budget, Object.fromEntries(names.map((n) => [`${n}.yaml`, pipe(n)])))
    const all = names.map((name) => w.given.begin(`Pipe/${name}`))
    const results = await w.ended(Promise.all(all))
    expect(results.map(({ outcome }) => outcome.result)).toEqual(names.map(() => 'done'))
    expect([...w.pipes.values()].map((one) => one.body['name'])).toEqual(expect.arrayContaining(names))
    expect(w.asked.filter(({ what }) => what === 'post')).toHaveLength(names.length)
    // a list for the first looks, and at most one before each create
    expect(w.asked.filter(({ what }) => what === 'list').length).toBeLessThanOrEqual(names.length + 2)
    expect(most(w.asked, budget.windowMs)).toBeLessThanOrEqual(budget.requests)
  })

  test('a pipe that a person says is deleted is looked at right before, and replaced', async () => {
    await using w = await world(budget, { 'orders.yaml': pipe('orders') })
    await w.go(ORDERS)
    await w.given.clock.advance(HOUR)
    await w.go(ORDERS)
    const [id = ''] = w.pipes.keys()
    w.pipes.clear()
    await w.given.clock.advance(HOUR)
    w.given.write('orders.yaml', pipe('orders', { policy: { recreate: id } }))
    const before = w.asked.length
    expect((await w.go(ORDERS)).action).toMatchObject({ type: 'create', reason: 'New' })
    const since = w.asked.slice(before)
    // one look decides, and then, with the right to create, the list and the pipe once more
    expect(since.map(({ what }) => what)).toEqual(['get', 'list', 'get', 'post'])
    const [last, post] = since.slice(-2)
    const wait = budget.requests < 3 ? budget.windowMs * 1.03 : 0
    expect((post?.at ?? 0) - (last?.at ?? 0)).toBeLessThanOrEqual(wait + SECOND)
    expect(most(w.asked, budget.windowMs)).toBeLessThanOrEqual(budget.requests)
    expect(w.pipes.size).toBe(1)
  })
})

test('creates do not wait for a list that waits for their places in the budget', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `n${index}`)
  const files = Object.fromEntries(names.map((name) => [`${name}.yaml`, pipe(name)]))
  await using w = await world({ requests: 10, windowMs: 10 * SECOND }, files)
  const from = w.given.clock.monotonic()
  const begin = (name: string) => w.given.begin(`Pipe/${name}`)
  // The second reconcile of each reads a newer list.
  await w.ended(Promise.all(names.map((name) => begin(name).then(() => begin(name)))))
  expect((w.asked.findLast(({ what }) => what === 'post')?.at ?? 0) - from).toBeLessThan(30 * SECOND)
})
