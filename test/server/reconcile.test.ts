import { describe, expect, it } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { Overview, Operator } from '../../src/server/parts.ts'
import { fakeOperator, fakeParts, overview, resource } from './fake-parts.ts'
import { ask, running } from './running.ts'

const TOKEN = 'the-admin-token'
const OWNER = 'the-token-of-the-owner'

const RESOURCES = [
  resource('Pipe/orders'),
  resource('Pipe/paused', { status: 'Suspended', suspendedUntil: '2027-01-31T00:00:00Z' }),
]

/** A trigger that remembers what it was asked. */
function fakeTrigger(token: string | undefined = `${TOKEN}\n`) {
  const asked: (Key | undefined)[] = []
  const accepts: string[] = []
  const trigger = fakeOperator({
    adminToken: async () => token,
    ownerToken: OWNER,
    request(key, accept) {
      asked.push(key)
      accepts.push(accept)
      const suspended: readonly Key[] = key === undefined || key === 'Pipe/paused' ? ['Pipe/paused'] : []
      return { token: 'tok-1', accepted: key === undefined ? 'all' : [key], suspended }
    },
    progress: (name) => (name === 'tok-1' ? { done: false, pending: 3 } : undefined),
  })
  return { trigger, asked, accepts }
}

async function post(
  trigger: Operator | undefined,
  init: RequestInit & { readonly query?: string } = { headers: { authorization: `Bearer ${TOKEN}` } },
) {
  const { url } = await running(fakeParts(trigger && { operator: trigger }, RESOURCES))
  return ask(`${url}/-/reconcile${init.query ?? ''}`, { method: 'POST', ...init })
}

const RIGHT = { authorization: `Bearer ${TOKEN}` }

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

describe('who may ask', () => {
  const HEADERS: readonly (readonly [string, string | undefined, number])[] = [
    ['the right token', `Bearer ${TOKEN}`, 202],
    ['the scheme in small letters', `bearer ${TOKEN}`, 202],
    ['the token as a password, as git-sync sends it', basic(`git-sync:${TOKEN}`), 202],
    ['nothing', undefined, 401],
    ['the token of the owner of the ledger', `Bearer ${OWNER}`, 202],
    ['a wrong token', 'Bearer wrong', 401],
    ['a token that only begins right', `Bearer ${TOKEN}x`, 401],
    ['a part of the token', `Bearer ${TOKEN.slice(0, -1)}`, 401],
    ['no token after the scheme', 'Bearer ', 401],
    ['a wrong password', basic('git-sync:wrong'), 401],
    ['an empty password', basic('git-sync:'), 401],
    ['another scheme', `Digest ${TOKEN}`, 401],
  ]

  it.each(HEADERS)('%s', async (_, authorization, status) => {
    const { trigger, asked } = fakeTrigger()
    const answer = await post(trigger, { headers: authorization === undefined ? {} : { authorization } })
    expect([answer.status, asked.length]).toEqual([status, status === 202 ? 1 : 0])
    expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer realm="pipewright"' : null)
  })

  it('nobody while it is off, and is told how to turn it on', async () => {
    const { status, body } = await post(undefined)
    expect(status).toBe(404)
    expect(body['hint']).toContain('--admin-token-file')
  })

  const NO_TOKEN: readonly (readonly [string, Operator['adminToken']])[] = [
    ['is not there', async () => undefined],
    ['is empty', async () => ' \n'],
    ['cannot be read', async () => Promise.reject(new Error('EACCES'))],
  ]

  it.each(NO_TOKEN)('nobody while the token file %s', async (_, adminToken) => {
    const { trigger, asked } = fakeTrigger()
    const answer = await post({ ...trigger, adminToken }, { headers: { authorization: 'Bearer ' } })
    expect([answer.status, asked.length]).toEqual([503, 0])
  })
})

describe('what is asked for', () => {
  it('everything, without a key', async () => {
    const { trigger, asked } = fakeTrigger()
    const { status, body, headers } = await post(trigger)
    expect(status).toBe(202)
    expect(body).toEqual({
      token: 'tok-1',
      accepted: 'all',
      suspended: ['Pipe/paused'],
      progress: '/api/v1/reconciles/tok-1',
    })
    expect(headers.get('location')).toBe('/api/v1/reconciles/tok-1')
    expect(asked).toEqual([undefined])
  })

  const KEYS: readonly (readonly [string, RequestInit & { readonly query?: string }])[] = [
    ['in the query', { query: '?key=Pipe/orders' }],
    ['in a body of JSON', { body: '{"key":"Pipe/orders"}', headers: { 'content-type': 'application/json' } }],
    ['in a form, as curl -d sends it', { body: new URLSearchParams({ key: 'Pipe/orders' }) }],
  ]

  it.each(KEYS)('one resource, by a key %s', async (_, init) => {
    const { trigger, asked } = fakeTrigger()
    const headers = { ...(init.headers as Record<string, string> | undefined), ...RIGHT } // written so above
    const { status, body } = await post(trigger, { ...init, headers })
    expect([status, body['accepted'], asked]).toEqual([202, ['Pipe/orders'], ['Pipe/orders']])
  })

  it('an empty body of JSON is no key', async () => {
    const { trigger, asked } = fakeTrigger()
    const { status } = await post(trigger, { headers: { ...RIGHT, 'content-type': 'application/json' } })
    expect([status, asked]).toEqual([202, [undefined]])
  })

  const ACCEPTS: readonly (readonly [string, RequestInit & { readonly query?: string }, string])[] = [
    ['nothing, as a webhook sends it, accepts nothing', {}, 'normal'],
    ['accept: false accepts nothing', { body: '{"accept":false}' }, 'normal'],
    ['accept: true is a person who means it', { body: '{"accept":true}' }, 'force'],
    ['so is accept=true in a form', { body: new URLSearchParams({ accept: 'true' }) }, 'force'],
    ['and in the query', { query: '?accept=true' }, 'force'],
  ]

  it.each(ACCEPTS)('%s', async (_, init, accept) => {
    const { trigger, accepts } = fakeTrigger()
    const type = typeof init.body === 'string' ? { 'content-type': 'application/json' } : {}
    const { status } = await post(trigger, { ...init, headers: { ...type, ...RIGHT } })
    expect([status, accepts]).toEqual([202, [accept]])
  })

  it('a resource that is not there is answered with the nearest', async () => {
    const { trigger, asked } = fakeTrigger()
    const { status, body } = await post(trigger, { query: '?key=pipe/order', headers: RIGHT })
    expect([status, body['hint'], asked]).toEqual([404, 'Did you mean "Pipe/orders"?', []])
  })

  it('a suspended resource answers that it is', async () => {
    const { trigger } = fakeTrigger()
    const { status, body } = await post(trigger, { query: '?key=Pipe/paused', headers: RIGHT })
    expect(status).toBe(409)
    expect(body).toMatchObject({
      error: 'Pipe/paused is suspended until 2027-01-31T00:00:00Z',
      suspended: ['Pipe/paused'],
    })
  })

  const BODIES: readonly (readonly [string, string, number])[] = [
    ['a misspelt member, which must not mean everything', '{"kye":"Pipe/orders"}', 400],
    ['a member too many', '{"key":"Pipe/orders","all":true}', 400],
    ['a key that is no text', '{"key":7}', 400],
    ['an accept that is neither yes nor no', '{"accept":"yes"}', 400],
    ['one resource and accept, which is for the directory', '{"key":"Pipe/orders","accept":true}', 400],
    ['a list', '["Pipe/orders"]', 400],
    ['half of a body', '{"key":', 400],
    ['a body that is too large', JSON.stringify({ key: 'x'.repeat(10_000) }), 413],
  ]

  it.each(['kye=Pipe/orders', 'key=', 'key=Pipe/orders&accept=true', 'key=Pipe/orders&key=Pipe/other'])(
    'refuses the query %s',
    async (query) => {
      const { trigger, asked } = fakeTrigger()
      const { status } = await post(trigger, { query: `?${query}`, headers: RIGHT })
      expect([status, asked]).toEqual([400, []])
    },
  )

  it.each(BODIES)('refuses %s', async (_, body, status) => {
    const { trigger, asked } = fakeTrigger()
    const answer = await post(trigger, { body, headers: { ...RIGHT, 'content-type': 'application/json' } })
    expect([answer.status, asked]).toEqual([status, []])
    expect(answer.body['hint']).toEqual(expect.any(String))
  })
})

describe('progress', () => {
  it('is shown by its token', async () => {
    const { url } = await running(fakeParts({ operator: fakeTrigger().trigger }))
    const { status, body } = await ask(`${url}/api/v1/reconciles/tok-1`)
    expect([status, body]).toEqual([200, { token: 'tok-1', done: false, pending: 3 }])
    expect((await ask(`${url}/api/v1/reconciles/other`)).status).toBe(404)
  })
})

async function askStandby(over: Partial<Overview>, headers: Record<string, string> = {}, query = '') {
  const { trigger, asked } = fakeTrigger()
  const parts = fakeParts(
    { operator: trigger, overview: () => overview({ standsBy: true, ...over }) },
    RESOURCES,
  )
  const { url } = await running(parts)
  const init = { method: 'POST', headers: { ...RIGHT, ...headers } }
  const { status, body } = await ask(`${url}/-/reconcile${query}`, init)
  return { status, text: JSON.stringify(body), asked }
}

describe('a process that stands by', () => {
  const leader = { holder: 'pipewright-1', url: 'http://pods.example:8080' }
  it.each([
    ['names the page of the one that acts', { leader }, 'http://pods.example:8080'],
    [
      'names its pod, where its page has no address',
      { leader: { ...leader, url: undefined } },
      'pod/pipewright-1',
    ],
    ['says that nobody acts', { leader: undefined }, 'no process is the leader'],
  ])('does nothing, and %s', async (_, over, words) => {
    const { status, text, asked } = await askStandby(over)
    expect([status, asked]).toEqual([409, []])
    expect(text).toContain(words)
  })

  // Otherwise git-sync would ask again every half a minute, until this process acts.
  it('reads when git-sync says that its own checkout has changed', async () => {
    const { status, asked } = await askStandby({ leader }, { 'gitsync-hash': '4faf373abc' })
    expect([status, asked]).toEqual([202, [undefined]])
  })

  it('does not do more than that for it', async () => {
    const { status, asked } = await askStandby({ leader }, { 'gitsync-hash': '4faf' }, '?key=Pipe/orders')
    expect([status, asked]).toEqual([409, []])
  })
})
