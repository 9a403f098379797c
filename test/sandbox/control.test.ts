import { expect, test } from 'vitest'
import { ask, givenSandbox, ORDERS, PIPES } from './given.ts'

const CONTROL = '/-/sandbox'

test('a pipe that vanishes is a 404 from then on', async () => {
  await using sandbox = await givenSandbox()
  const { id } = (await ask(sandbox, PIPES, { body: ORDERS })).body.result
  sandbox.vanish(id)
  expect((await ask(sandbox, `${PIPES}/${id}`)).status).toBe(404)
  expect(() => sandbox.vanish(id)).toThrow(`there is no pipe ${id}`)
})

test('a change merges: objects into objects, null takes away, lists are replaced', async () => {
  let now = 1_000_000
  await using sandbox = await givenSandbox({ now: () => now })
  const { id } = (await ask(sandbox, PIPES, { body: ORDERS })).body.result
  now += 5_000
  sandbox.change(id, {
    state: 'Failed',
    scaling: { concurrency: 3 },
    settings: { db_max_threads: null },
    fieldMappings: [],
    later: { added: true },
  })
  const { result } = (await ask(sandbox, `${PIPES}/${id}`)).body
  expect(result).toMatchObject({
    state: 'Failed',
    scaling: { replicas: 2, concurrency: 3 },
    settings: {},
    fieldMappings: [],
    later: { added: true },
    createdAt: new Date(1_000_000).toISOString(),
    updatedAt: new Date(1_005_000).toISOString(),
  })
  expect(result.settings).toEqual({})
  expect(() => sandbox.change('none', {})).toThrow('there is no pipe none')
})

test('an alert can be changed, and made', async () => {
  await using sandbox = await givenSandbox()
  sandbox.setAlert('alert-1', { state: 'ALERT', threshold: 1 })
  sandbox.setAlert('alert-2', { state: 'OK' })
  expect(sandbox.alerts()).toMatchObject([
    { id: 'alert-1', state: 'ALERT', threshold: 1, name: 'Ingest lag' },
    { id: 'alert-2', state: 'OK' },
  ])
})

test('all of that works over HTTP, and needs no credentials', async () => {
  await using sandbox = await givenSandbox()
  const { id } = (await ask(sandbox, PIPES, { body: ORDERS })).body.result
  const tell = (what: string, body: unknown) =>
    ask(sandbox, `${CONTROL}/${what}`, { body, headers: { authorization: '' } })

  expect((await tell('change', { pipeId: id, patch: { scaling: { replicas: 7 } } })).body).toEqual({
    ok: true,
  })
  expect((await tell('alert', { id: 'alert-1', patch: { state: 'ALERT' } })).status).toBe(200)
  const state = (await ask(sandbox, `${CONTROL}/state`)).body
  expect(state.pipes).toMatchObject([{ id, scaling: { replicas: 7 } }])
  expect(state.alerts).toMatchObject([{ state: 'ALERT' }])
  expect(state.endpoints).toEqual([])
  expect(state.requests).toMatchObject([{ operation: 'createPipe', answer: { status: 200 } }])
  expect(JSON.stringify(state)).not.toMatch(/"p1"|"p2"|se:cret/)

  await tell('faults', { rules: [{ fault: { type: 'status', status: 503 }, times: 'always' }] })
  expect((await ask(sandbox, `${PIPES}/${id}`)).status).toBe(503)
  await tell('faults', {
    clear: true,
    mix: { seed: 1, faults: [{ probability: 1, fault: { type: 'html' } }] },
  })
  expect((await ask(sandbox, `${PIPES}/${id}`)).status).toBe(502)
  await tell('faults', { clear: true })
  expect((await tell('vanish', { pipeId: id })).status).toBe(200)
  expect((await ask(sandbox, `${PIPES}/${id}`)).status).toBe(404)
  expect(sandbox.requests()).toHaveLength(4) // the control interface does not count
})

test.each<[string, number, string, Parameters<typeof ask>[2]]>([
  ['an unknown pipe', 404, 'vanish', { body: { pipeId: 'none' } }],
  ['an unknown field', 400, 'vanish', { body: { id: 'x' } }],
  ['an unknown fault', 400, 'faults', { body: { rules: [{ fault: { type: 'fire' } }] } }],
  ['a patch that is no object', 400, 'alert', { body: { id: 'alert-1', patch: 1 } }],
  [
    'another content type, as a foreign page would send',
    400,
    'vanish',
    { body: { pipeId: 'x' }, headers: { 'content-type': 'text/plain' } },
  ],
  ['an unknown path', 404, 'nothing', {}],
])('refused by the control interface: %s', async (_why, status, what, sent) => {
  await using sandbox = await givenSandbox()
  const got = await ask(sandbox, `${CONTROL}/${what}`, sent)
  expect(got.status).toBe(status)
  expect(Object.keys(got.body)).toEqual(['error'])
  expect(sandbox.requests()).toEqual([])
})

test('a name from elsewhere that points here is turned away', async () => {
  await using sandbox = await givenSandbox()
  const { status } = await ask(sandbox, `${CONTROL}/state`, { headers: { host: 'rebound.example' } })
  expect(status).toBe(403)
})
