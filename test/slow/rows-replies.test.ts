import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import { createAuthority } from './support/authority.ts'
import { gateways, ownError, type Reply } from './support/fake-platform.ts'
import { stop } from './support/still.ts'
import { createStory } from './support/story.ts'
import { ANALYTICS, serviceManifest } from '../support/manifests.ts'

/* Rows 11, 15, 16 and 17: replies that mean something else than they seem to. */

/** JSON that looks like the platform's envelope. */
function envelope(status: number, requestId: string): string {
  return JSON.stringify({ status, requestId, error: 'refused' })
}

const DONE = { work: true } as const

/** Each after the work was done, as the platform or something in front of it may do; a name for each. */
const DOUBTFUL: Readonly<Record<string, Reply>> = {
  'own-408': { status: 408, ...DONE, body: envelope(408, randomUUID()) },
  'own-444': { status: 444, ...DONE, body: envelope(444, randomUUID()) },
  'own-460': { status: 460, ...DONE, body: envelope(460, randomUUID()) },
  'own-463': { status: 463, ...DONE, body: envelope(463, randomUUID()) },
  'own-499': { status: 499, ...DONE, body: envelope(499, randomUUID()) },
  'page-400': { ...gateways(400), ...DONE },
  'page-404': { ...gateways(404), ...DONE },
  'page-409': { ...gateways(409), ...DONE },
  'page-413': { ...gateways(413), ...DONE },
  'page-460': { ...gateways(460), ...DONE },
  'page-499': { ...gateways(499), ...DONE },
  'empty-400': { ...gateways(400, ''), ...DONE },
  'json-422': { ...gateways(422, '{"message":"upstream said no"}'), ...DONE },
  'other-status-400': { ...gateways(400, envelope(502, randomUUID())), ...DONE },
  'no-uuid-404': { ...gateways(404, envelope(404, 'gw-7f3a')), ...DONE },
  'no-status-400': { ...gateways(400, JSON.stringify({ requestId: randomUUID() })), ...DONE },
}

/** Of these the client's own credentials are doubted, which holds all other creates. */
const DOUBTFUL_ALONE: readonly { readonly what: string; readonly reply: Reply }[] = [
  { what: 'a 401 that is a page', reply: { ...gateways(401), ...DONE } },
  { what: 'a 403 that is a page', reply: { ...gateways(403), ...DONE } },
]

describe.concurrent('row 11: a refusal that is none', () => {
  test('a 4xx that means a broken exchange, or is not the platform’s own, leaves the outcome unknown', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    platform.decide = ({ operation, text }) =>
      operation === 'createPipe' ? DOUBTFUL[/^\{"name":"([^"]*)"/.exec(text)?.[1] ?? ''] : undefined
    for (const name of Object.keys(DOUBTFUL)) story.writePipe(name)
    const live = await story.start(['--interval', '1s'])
    const wrong: string[] = []
    for (const name of Object.keys(DOUBTFUL)) {
      const shown = await until(`${name} to be judged`, async () => {
        const resource = await live.resource(`Pipe/${name}`)
        return platform.posts(name)[0]?.status === undefined || resource?.status === 'Progressing'
          ? undefined
          : resource
      })
      if (shown.status !== 'OutcomeUnknown') wrong.push(`${name}: ${shown.reason}`)
    }
    expect(wrong).toEqual([])
    await live.stop()
    const again = await story.start(['--interval', '1s'])
    for (const name of Object.keys(DOUBTFUL)) await again.says(`Pipe/${name}`, 'OutcomeUnknown')
    for (const name of Object.keys(DOUBTFUL)) expect(platform.world.named(name)).toHaveLength(1)
    expect(platform.posts()).toHaveLength(Object.keys(DOUBTFUL).length)
  })

  test.for(DOUBTFUL_ALONE)('$what leaves it unknown, too', async ({ reply }, { expect }) => {
    await using story = await createStory()
    const { platform } = story
    platform.decide = ({ operation }) => (operation === 'createPipe' ? reply : undefined)
    story.writePipe('orders')
    const live = await story.start()
    await live.says('Pipe/orders', 'OutcomeUnknown')
    // A new secret starts a refused request afresh; this one is not to be sent again.
    platform.decide = () => undefined
    story.workspace.write('credentials/analytics-api/keySecret', 'planted-another-secret')
    await live.stop()
    await (await story.start()).says('Pipe/orders', 'OutcomeUnknown')
    expect(platform.posts()).toHaveLength(1)
  })

  const CLEAR: readonly { readonly what: string; readonly reply: Reply; readonly reason: string }[] = [
    { what: 'a 400 of the platform’s own', reply: ownError(400), reason: 'Rejected' },
    { what: 'a 404 of the platform’s own', reply: ownError(404), reason: 'Rejected' },
    { what: 'a 409 of the platform’s own', reply: ownError(409), reason: 'Rejected' },
    { what: 'a 422 of the platform’s own', reply: ownError(422), reason: 'Rejected' },
    {
      what: 'a 429 of the platform’s own',
      reply: ownError(429, { 'Retry-After': '2' }),
      reason: 'RateLimited',
    },
    {
      what: 'a 429 that is a page',
      reply: { ...gateways(429), headers: { 'Retry-After': '2' } },
      reason: 'RateLimited',
    },
    {
      what: 'an empty 429',
      reply: { ...gateways(429, ''), headers: { 'Retry-After': '2' } },
      reason: 'RateLimited',
    },
  ]
  test.for(CLEAR)(
    '$what did nothing: it is tried again, and there is one pipe',
    async (clear, { expect }) => {
      await using story = await createStory()
      const { platform } = story
      platform.decide = ({ operation }) =>
        operation === 'createPipe' && platform.posts().length === 1 ? clear.reply : undefined
      story.writePipe('orders')
      const live = await story.start(['--interval', '1s'])
      await until('the refusal to be told', async () =>
        (await live.history('Pipe/orders')).some(({ reason }) => reason === clear.reason),
      )
      const ready = await live.says('Pipe/orders', 'Ready', 30_000)
      expect(ready.pipeId).toBe(platform.world.pipe('orders').id)
      const [first, second, ...more] = platform.posts()
      expect(more).toEqual([])
      expect(second?.idempotencyKey).not.toBe(first?.idempotencyKey)
    },
  )
})

const STOOD_STILL: readonly {
  readonly what: string
  /** When the reply goes out: ms after the request came. */
  readonly answerMs: number
  readonly secure?: true
}[] = [
  { what: 'a reply that came at once', answerMs: 0 },
  { what: 'a reply that came after the deadline', answerMs: 2_500 },
  { what: 'a reply under TLS', answerMs: 500, secure: true },
]

describe.concurrent('row 15: a process that stood still past the deadline of its create', () => {
  test.for(STOOD_STILL)(
    '$what lies in the socket, and is read before it gives up',
    async (row, { expect }) => {
      using authority = row.secure && createAuthority('127.0.0.1')
      await using story = await createStory([ANALYTICS], authority ? { tls: authority } : {})
      const { platform } = story
      const env = authority ? { NODE_EXTRA_CA_CERTS: authority.file } : {}
      const live = await story.start(['--request-timeout', '2s'], { env })
      const { pid } = live.program
      platform.decide = ({ operation }) =>
        operation === 'createPipe' ? { before: () => stop(pid).then(() => pause(row.answerMs)) } : undefined
      story.writePipe('orders')
      const [create] = await until('the create to be answered', () => {
        const [first] = platform.posts()
        return first?.status === undefined ? undefined : [first]
      })
      await until('its deadline to pass', () => performance.now() > create.at + 3_500)
      live.program.signal('SIGCONT')
      const ready = await live.says('Pipe/orders', 'Ready')
      expect(ready.pipeId).toBe(platform.world.pipe('orders').id)
      expect(platform.posts()).toHaveLength(1)
    },
  )
})

const BILLING = {
  name: 'billing',
  serviceId: '3d0e6f51-9b7c-4a25-8d13-5c2f7a9e0b66',
  secret: ANALYTICS.secret,
}

describe.concurrent('row 16: an idle service', () => {
  test.for([424, 425])(
    'that answers %i holds up nothing else on its key, and is called idle',
    async (status, { expect }) => {
      await using story = await createStory([ANALYTICS, BILLING])
      const { platform } = story
      for (const name of ['a1', 'a2', 'a3']) story.writePipe(name)
      story.writePipe('b1', { service: 'billing' })
      const live = await story.start(['--interval', '1s'])
      for (const name of ['a1', 'a2', 'a3', 'b1']) await live.says(`Pipe/${name}`, 'Ready')

      platform.decide = ({ serviceId }) => (serviceId === ANALYTICS.serviceId ? ownError(status) : undefined)
      const { id } = platform.world.pipe('b1')
      await until('the first refusal', () => platform.requests.some((request) => request.status === status))
      const before = platform.gets(id).length
      await until(
        'the other service to be read ten times',
        () => platform.gets(id).length >= before + 10,
        25_000,
      )
      for (const name of ['a1', 'a2', 'a3']) {
        const idle = await live.says(`Pipe/${name}`, 'ServiceIdle')
        expect(idle.message).toContain(String(status))
      }
      // So are its creates.
      story.writePipe('b2', { service: 'billing' })
      await live.says('Pipe/b2', 'Ready')
      expect((await live.resource('Pipe/b1'))?.status).toBe('Ready')
      expect(await live.metric('pipewright_api_rate_limited_total')).toBe(0)

      // A create in the idle service did nothing, and is made when it is awake.
      story.writePipe('a4')
      await live.says('Pipe/a4', 'ServiceIdle')
      platform.decide = () => undefined
      for (const name of ['a1', 'a2', 'a3', 'a4']) await live.says(`Pipe/${name}`, 'Ready', 120_000)
      expect(platform.world.named('a4')).toHaveLength(1)
      expect(platform.world.pipes).toHaveLength(6)
    },
  )
})

describe.concurrent('row 17: ids are compared as ids', () => {
  const capitals = { ...ANALYTICS, serviceId: ANALYTICS.serviceId.toUpperCase() }

  test('a serviceId that is written in capitals after the pipes were made changes nothing', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    for (const name of ['a', 'b']) story.writePipe(name)
    const live = await story.start(['--interval', '1s'])
    for (const name of ['a', 'b']) await live.says(`Pipe/${name}`, 'Ready')
    await live.reads(() => story.writeService(capitals))
    const looks = platform.gets(platform.world.pipe('a').id).length
    await until('three more looks', () => platform.gets(platform.world.pipe('a').id).length >= looks + 3)
    for (const name of ['a', 'b']) expect((await live.resource(`Pipe/${name}`))?.status).toBe('Ready')
    // A rename is still one.
    story.workspace.write('manifests/b.yaml', '# moved\n')
    story.writePipe('c', { name: 'b' })
    const moved = await live.says('Pipe/c', 'Ready')
    expect(moved.pipeId).toBe(platform.world.pipe('b').id)
    expect(platform.posts()).toHaveLength(2)
  })

  test('one that is in capitals from the start is that of the replies, and of a Lock after a lost ledger', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    story.workspace.write('manifests/service-analytics.yaml', serviceManifest(capitals))
    for (const name of ['a', 'b']) story.writePipe(name)
    const live = await story.start(['--interval', '1s'])
    for (const name of ['a', 'b']) await live.says(`Pipe/${name}`, 'Ready')
    await live.stop()
    const lock = await story.run(['lock'])
    story.workspace.write(
      'manifests/pipes.lock.yaml',
      lock.stdout.replaceAll(/[0-9a-f-]{36}/g, (id) => id.toUpperCase()),
    )
    rmSync(story.ledger)
    const again = await story.start(['--interval', '1s'])
    for (const name of ['a', 'b']) await again.says(`Pipe/${name}`, 'Ready')
    await again.reads(() => story.writeService(ANALYTICS))
    const looks = platform.gets(platform.world.pipe('a').id).length
    await until('three more looks', () => platform.gets(platform.world.pipe('a').id).length >= looks + 3)
    for (const name of ['a', 'b']) expect((await again.resource(`Pipe/${name}`))?.status).toBe('Ready')
    expect(platform.posts()).toHaveLength(2)
  })
})
