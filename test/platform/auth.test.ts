import { timeOf } from '../../src/kinds/instant.ts'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import { PIPE as PIPE_KIND } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { ALERT } from '../../src/kinds/profiles/default/alert/kind.ts'
import { expect, test } from 'vitest'
import { createAccounts } from '../../src/platform/admission.ts'
import { createCredentialBreaker, type AuthenticatedCaller } from '../../src/platform/credential-breaker.ts'
import type { Event } from '../../src/contract/events.ts'
import { SecretUnavailableError } from '../../src/contract/secrets.ts'
import { RemoteError } from '../../src/contract/remote-error.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import {
  access,
  apiKey,
  envelope,
  failure,
  KEY_SECRET,
  PIPE,
  facing,
  platform,
  readOptions,
  secretsOf,
  createRequest,
} from './support/platform.ts'

function setup() {
  const clock = createFakeClock()
  const events: Event[] = []
  return { clock, events, breaker: createCredentialBreaker({ clock, emit: (event) => events.push(event) }) }
}

function refusalOf(enter: () => void): RemoteError | undefined {
  try {
    enter()
  } catch (error) {
    if (error instanceof RemoteError) return error
    throw error
  }
  return undefined
}

const reader: AuthenticatedCaller = {
  ids: 'one',
  service: 'analytics',
  operation: PIPE_KIND.operations.read,
  digest: 'd1',
  source: 'the secret "x"',
}
const elsewhere: AuthenticatedCaller = { ...reader, ids: 'other', digest: 'other' }
const writer: AuthenticatedCaller = { ...reader, operation: QUERY_ENDPOINT.operations.upsert }

test('after a 401 nobody of the service passes, but one probe in 30 s, 60 s, … 15 min', async () => {
  const { clock, breaker, events } = setup()
  breaker.enter(reader)
  breaker.report(reader, { status: 401 })
  breaker.report(writer, { status: 401 })
  const passedAt: number[] = []
  for (let second = 0; second < 4_000; second += 1) {
    try {
      breaker.enter(second % 2 === 0 ? reader : writer)
      passedAt.push(second)
      breaker.report(reader, { status: 401 })
    } catch {
      // Held.
    }
    await clock.advance(1_000)
  }
  expect(passedAt).toEqual([30, 90, 210, 450, 930, 1_830, 2_730, 3_630])
  expect(events.map(({ type }) => type)).toEqual(['ServicePaused'])
})

test('a probe that gets no answer does not let others pass', async () => {
  const { clock, breaker } = setup()
  breaker.report(reader, { status: 401 })
  await clock.advance(30_000)
  breaker.check(reader)
  breaker.enter(reader)
  expect(() => breaker.check(reader)).toThrow('not sent')
  await clock.advance(30_000)
  expect(() => breaker.enter(reader)).not.toThrow()
})

test('a person who asks does not wait for the next probe; one goes, and the others wait as before', () => {
  const { clock, breaker } = setup()
  breaker.report(reader, { status: 401 })
  breaker.probeNow('another')
  expect(refusalOf(() => breaker.check(reader))?.message).toContain(
    `no request until ${timeOf(clock.now() + 30_000)}`,
  )
  breaker.probeNow('analytics')
  breaker.check(reader)
  breaker.enter(reader)
  expect(refusalOf(() => breaker.enter(reader))?.message).toContain(
    `no request until ${timeOf(clock.now() + 30_000)}`,
  )
  breaker.report(reader, 'accepted')
  breaker.enter(writer)
})

test('a service that is idle says itself when it may be asked again', () => {
  const { clock, breaker } = setup()
  breaker.report(reader, { status: 424, retryAfterMs: 7_000 })
  breaker.probeNow('analytics')
  expect(refusalOf(() => breaker.check(reader))?.message).toContain(
    `no request until ${timeOf(clock.now() + 7_000)}`,
  )
})

test('it opens when it works, and tells', async () => {
  const { clock, breaker, events } = setup()
  breaker.report(reader, { status: 401 })
  const message = expect.stringContaining('The platform has refused the credentials') as string
  expect(breaker.pauses()).toEqual([{ service: 'analytics', since: clock.now(), message }])
  await clock.advance(30_000)
  breaker.enter(reader)
  breaker.report(reader, 'accepted')
  breaker.enter(writer)
  expect(breaker.pauses()).toEqual([])
  expect(events.map(({ type }) => type)).toEqual(['ServicePaused', 'ServiceResumed'])
})

test('a refusal that no request has tested for a quarter of an hour is not shown any more', async () => {
  const { clock, breaker } = setup()
  breaker.report(reader, { status: 403 })
  await clock.advance(15 * 60_000)
  expect(breaker.pauses()).toHaveLength(1)
  await clock.advance(30_000)
  expect(breaker.pauses()).toEqual([])
})

test('it opens for another secret at once, and an old request that comes back late does not close it for that', () => {
  const { breaker } = setup()
  breaker.report(reader, { status: 401 })
  const rotated = { ...reader, digest: 'd2' }
  breaker.enter(rotated)
  breaker.report(rotated, 'accepted')
  breaker.report(reader, { status: 401 })
  expect(() => breaker.enter(rotated)).not.toThrow()
})

test('a 403 holds only the operation that was forbidden', () => {
  const { breaker } = setup()
  breaker.report(writer, { status: 403 })
  breaker.enter(reader)
  breaker.report(reader, 'accepted')
  expect(() => breaker.enter(writer)).toThrow(
    /has forbidden this operation to the credentials in .*"x" since 2026-01-01T00:00:00Z \(403\)/,
  )
})

test('a 403 of other credentials is over when these work', () => {
  const { breaker } = setup()
  breaker.report(writer, { status: 403 })
  breaker.report({ ...reader, digest: 'd2' }, 'accepted')
  expect(breaker.refused()).toEqual([])
})

test.each([401, 403])('over HTTP: corrected ids of a Service end the pause after %i', async (status) => {
  await using p = await facing((response, { url }) => {
    if (!url.includes(access.serviceId))
      return void response.writeHead(status).end(envelope(undefined, status))
    response.end(envelope({ id: PIPE, serviceId: access.serviceId, name: 'orders', state: 'Running' }))
  })
  const wrong = { ...access, serviceId: '22222222-0000-4000-8000-000000000002' }
  await failure(p.client.read({ kind: PIPE_KIND, service: wrong, id: PIPE }, readOptions()))
  await expect(
    p.client.read({ kind: PIPE_KIND, service: access, id: PIPE }, readOptions()),
  ).resolves.toBeDefined()
})

test('another service, and the alerts, have nothing to do with it', () => {
  const { breaker } = setup()
  breaker.report({ ...reader, service: 'alerts' }, { status: 401 })
  expect(() => breaker.enter({ ...reader, service: 'other' })).not.toThrow()
  expect(() =>
    breaker.enter({ ...reader, service: 'alerts', operation: ALERT.operations.read }),
  ).not.toThrow()
})

test('over HTTP: one refusal, then nothing more is sent; a changed secret is used at once', async () => {
  const clock = createFakeClock()
  const values = apiKey('key-secret-wrong-1')
  const good = `Basic ${Buffer.from(`key-id-5f2d:${KEY_SECRET}`).toString('base64')}`
  await using p = await facing(
    (response, request) => {
      const isGood = request.headers.authorization === good
      response.writeHead(isGood ? 200 : 401).end(isGood ? envelope({ id: PIPE }) : '{}')
    },
    { secrets: secretsOf(values, clock), clock },
  )
  await failure(p.read())
  const held = await failure(p.read())
  expect(held.facts).toMatchObject({ class: 'AuthFailed', effect: 'none' })
  expect(held.message).toContain('analytics-api/keySecret')
  await failure(p.admit())
  expect(p.server.requests).toHaveLength(1)
  expect(p.client.budgets()).toMatchObject([{ used: 1 }])
  values.set('analytics-api/keySecret', KEY_SECRET)
  await clock.advance(1_000)
  expect((await p.read()).value.id).toBe(PIPE)
  expect(p.events.map(({ type }) => type)).toEqual([
    'RequestFinished',
    'ServicePaused',
    'RequestFinished',
    'ServiceResumed',
  ])
})

test.each([401, 403, 424, 425])(
  'over HTTP: after a %i no request is sent or waits for the budget',
  async (status) => {
    const clock = createFakeClock()
    const budget = { requests: 1, windowMs: 5_000 }
    await using p = await facing((response) => response.writeHead(status).end('{}'), {
      secrets: secretsOf(apiKey(), clock),
      clock,
      budget,
    })
    const read = () => failure(p.read())
    await read()
    expect((await read()).message).toContain(`(${status})`)
    expect(p.server.requests).toHaveLength(1)
  },
)

test('over HTTP: it says whose credentials were refused and are others by now, and sends nothing for that', async () => {
  const clock = createFakeClock()
  const values = apiKey('key-secret-wrong-1')
  await using p = await facing(
    (response, _request, n) => {
      response.writeHead(n === 1 ? 401 : 200).end(envelope({ id: PIPE }))
    },
    { secrets: secretsOf(values, clock), clock },
  )
  const read = () => p.read()
  expect(await p.client.renewed()).toEqual([])
  await failure(read())
  await clock.advance(2_000)
  expect(await p.client.renewed()).toEqual([])
  values.set('analytics-api/keySecret', KEY_SECRET)
  await clock.advance(2_000)
  expect(await p.client.renewed()).toEqual(['analytics'])
  expect(p.server.requests).toHaveLength(1)
  await read()
  expect(await p.client.renewed()).toEqual([])
  values.clear() // what cannot be read is not renewed
  await clock.advance(2_000)
  expect(await p.client.renewed()).toEqual([])
})

test.each([
  ['vanishes', 'SecretUnavailableError'],
  ['is read while its request is stopped', 'stopped'],
])('a secret that %s, after a wait for the budget: the place is given back', async (how, end) => {
  const stop = new AbortController()
  const clock = createFakeClock()
  const values = apiKey()
  await using p = platform({
    baseUrl: 'http://127.0.0.1:9',
    secrets: secretsOf(values, clock),
    clock,
    budget: { requests: 1, windowMs: 5_000 },
  })
  await p.admit()
  const waiting = p.admit(stop.signal).catch((error: unknown) => error)
  await clock.advance(1_000)
  if (how === 'vanishes') values.clear()
  else values.get = (key) => (stop.abort('stopped'), Map.prototype.get.call(values, key) as string)
  await clock.advance(60_000)
  const error = await waiting
  expect(error instanceof Error ? error.name : error).toBe(end)
  expect(p.client.budgets()).toMatchObject([{ used: 0, waiting: 0 }])
})

test('a secret that is not mounted: nothing is sent, no place is taken, the file is named', async () => {
  await using p = await facing((response) => response.end(), { secrets: secretsOf(new Map()) })
  const error: unknown = await p.admit().catch((e: unknown) => e)
  expect(error).toBeInstanceOf(SecretUnavailableError)
  expect(error).toMatchObject({
    missing: { file: '/secrets/analytics-api/keyId', why: 'absent', of: 'API key' },
  })
  const alerts: unknown = await p.client
    .read({ kind: ALERT, service: undefined, id: 'a' }, readOptions())
    .catch((e: unknown) => e)
  expect(alerts).toMatchObject({ facts: { class: 'Unavailable' } })
  expect(p.server.requests).toEqual([])
  expect(p.client.budgets()).toEqual([])
})

test('a 429 pauses the whole budget and is told; the next without a time pauses longer, until one is taken', async () => {
  const clock = createFakeClock()
  const replies: readonly (readonly [number, Record<string, string>])[] = [
    [429, { 'retry-after': '30' }],
    [429, {}],
    [429, {}],
    [400, {}],
    [429, {}],
    [400, {}],
  ]
  // Nothing of the exchange waits by this clock but its time limit.
  await using p = await facing(
    (response, _request, n) => {
      const [status, headers] = replies[n - 1] ?? [500, {}]
      response.writeHead(status, headers).end(envelope(null, status))
    },
    { clock },
  )
  const pauses: (number | undefined)[] = []
  for (const [i, [status]] of replies.entries()) {
    const permit = await p.admit()
    const error = await failure(permit.send(createRequest('{}', `intent-${i}`)))
    expect(error.facts).toMatchObject({ class: status === 400 ? 'Rejected' : 'Throttled', effect: 'none' })
    const [budget] = p.client.budgets()
    pauses.push(budget?.pausedForMs)
    // The last one comes a minute later.
    await clock.advance(i === 4 ? 60_000 : (budget?.pausedForMs ?? 0))
  }
  expect(pauses).toEqual([30_000, 5_000, 10_000, 0, 5_000, 0])
  expect(p.events).toContainEqual({
    type: 'RateLimitOver',
    service: 'analytics',
    replies: 4,
    durationMs: 45_000,
  })
  const told = p.events.flatMap((event) =>
    event.type === 'RateLimited' ? [[event.retryAfterMs, event.isFirst]] : [],
  )
  expect(told).toEqual([
    [30_000, true],
    [5_000, false],
    [10_000, false],
    [5_000, false],
  ])
})

test('a limit begins once, and is over when there was no 429 for a minute: with how many, and how long', async () => {
  const clock = createFakeClock()
  const accounts = createAccounts({ requests: 10, windowMs: 1_000, clock, emit: () => undefined })
  const { throttle } = accounts.of('a credential')
  expect(throttle.speedUp()).toBeUndefined()
  expect(throttle.slowDown(30_000)).toEqual({ pauseMs: 30_000, isFirst: true })
  await clock.advance(30_000)
  expect(throttle.speedUp()).toBeUndefined()
  expect(throttle.slowDown(1_000)).toEqual({ pauseMs: 1_000, isFirst: false })
  await clock.advance(59_999)
  expect(throttle.speedUp()).toBeUndefined()
  await clock.advance(1)
  expect(throttle.speedUp()).toEqual({ replies: 2, durationMs: 30_000 })
  expect(throttle.speedUp()).toBeUndefined()
  expect(throttle.slowDown(1_000)).toMatchObject({ isFirst: true })
})

test.each([424, 425] as const)(
  'a %i pauses its service alone, and not the credential: one probe in 5 s, 10 s, … 15 min',
  async (status) => {
    const { clock, breaker, events } = setup()
    const busy: AuthenticatedCaller = { ...reader, service: 'busy' }
    breaker.enter(reader)
    breaker.report(reader, { status, retryAfterMs: undefined })
    const passedAt: number[] = []
    const refusals = new Set<string | undefined>()
    for (let second = 0; second < 4_000; second += 1) {
      breaker.enter(busy)
      breaker.report(busy, 'accepted')
      // Other credentials make an idle service no busier.
      const refusal = refusalOf(() => breaker.enter({ ...writer, digest: `d${second}` }))
      refusals.add(refusal?.facts.class)
      if (refusal === undefined) {
        passedAt.push(second)
        breaker.report(writer, { status, retryAfterMs: undefined })
      }
      await clock.advance(1_000)
    }
    expect(refusals).toEqual(new Set([undefined, 'ServiceIdle']))
    expect(passedAt).toEqual([5, 15, 35, 75, 155, 315, 635, 1_275, 2_175, 3_075, 3_975])
    expect(() => breaker.enter(elsewhere)).not.toThrow()
    breaker.report(reader, 'accepted')
    expect(() => breaker.enter(reader)).not.toThrow()
    expect(events.map(({ type }) => type)).toEqual(['ServicePaused', 'ServiceResumed'])
  },
)

test('an idle service is asked again when it said, and who asks before is told when', async () => {
  const { clock, breaker } = setup()
  breaker.report(reader, { status: 424, retryAfterMs: 60_000 })
  await clock.advance(59_999)
  expect(() => breaker.check(reader)).toThrow(
    /service analytics has been idle or waking up since \S+ \(424\)/,
  )
  expect(refusalOf(() => breaker.check(reader))?.facts.retryAfterMs).toBe(1)
  await clock.advance(1)
  expect(() => breaker.enter(reader)).not.toThrow()
})

test('an idle service leaves the budget of its credential to the others', async () => {
  const idle = { ...access, name: 'idle', serviceId: '00000000-0000-4000-8000-000000000009' }
  await using p = await facing((response, request) => {
    const status = request.url.includes(idle.serviceId) ? 424 : 200
    response.writeHead(status).end(envelope({ id: PIPE, name: 'orders' }, status))
  })
  const error = await failure(p.client.read({ kind: PIPE_KIND, service: idle, id: PIPE }, readOptions()))
  expect(error.facts).toMatchObject({ class: 'ServiceIdle', httpStatus: 424 })
  expect(p.client.budgets()).toMatchObject([{ pausedForMs: 0 }])
  expect((await p.read()).value.id).toBe(PIPE)
  const again = await failure(p.client.read({ kind: PIPE_KIND, service: idle, id: PIPE }, readOptions()))
  expect(again.facts.class).toBe('ServiceIdle')
  expect(p.server.requests.filter(({ url }) => url.includes(idle.serviceId))).toHaveLength(1)
})

test('what is refused to who asks beside pauses nobody, says nothing, and counts in the same budget', async () => {
  const other = { ...access, serviceId: '00000000-0000-4000-8000-000000000009' }
  await using p = await facing((response, request) => {
    const isOther = request.url.includes(other.serviceId)
    response.writeHead(isOther ? 403 : 200).end(isOther ? '{}' : envelope({ id: PIPE, name: 'orders' }))
  })
  const beside = p.client.beside()
  const error = await failure(beside.read({ kind: PIPE_KIND, service: other, id: PIPE }, readOptions()))
  expect(error.facts.class).toBe('AuthFailed')
  const mine = await p.read()
  expect(mine.value.id).toBe(PIPE)
  expect(p.client.pauses()).toEqual([])
  expect(p.client.budgets()).toMatchObject([{ used: 2 }])
  expect(p.events.map(({ type }) => type)).toEqual(['RequestFinished', 'RequestFinished'])
})
