import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SandboxFileError } from '../../src/sandbox/wire-schema.ts'
import { readFixture, fixtureSchema, type FixtureInput } from '../../src/sandbox/fixture.ts'
import { ask, ENDPOINT, givenSandbox, ORDERS, PIPES } from './given.ts'
import { ALERT, ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'
import { folderForFile } from '../support/folders.ts'

const ID = '11111111-2222-4333-8444-555555555555'
const PIPE = { ...ORDERS, id: ID, organizationId: ORGANIZATION, serviceId: SERVICE_ID }

const folder = folderForFile()

test('an empty file is a fixture in which nothing is', async () => {
  const file = join(folder, 'empty.yaml')
  await writeFile(file, '# nothing yet\n')
  expect(await readFixture(file, DEFAULT)).toEqual(fixtureSchema(DEFAULT).parse({}))
})

test.each([
  ['no file', undefined, /fixture\.yaml: cannot be read: ENOENT/],
  ['no YAML', 'pipes: [', /fixture\.yaml:1:9: is not YAML: /],
  ['a list', '- pipes', /body: Invalid input: expected object/],
  ['an unknown part', 'pipe: []', /body: unknown field pipe/],
  [
    'an id that is none',
    'services: [{organizationId: a, serviceId: b}]',
    /fixture\.yaml:1:29: services\.0\.organizationId: .*\n.*:1:43: services\.0\.serviceId: /,
  ],
  ['an alert without most of its fields', 'alerts: [{id: a}]', /alerts\.0\.name: .*alerts\.0\.channel: /s],
  [
    'a pipe with two sources',
    `pipes: [{id: ${ID}, organizationId: ${ID}, serviceId: ${ID}, name: x, source: {kafka: {}, postgres: {}}}]`,
    /pipes\.0: source\.postgres: .*kafka, postgres/,
  ],
  [
    'an unknown field of a pipe',
    `pipes: [{id: ${ID}, organizationId: ${ID}, serviceId: ${ID}, name: x, source: {kafka: {broker: x}}}]`,
    /pipes\.0\.source\.kafka: unknown field broker/,
  ],
  [
    'an incident without a subject',
    'incidents: [{afterMs: 1, vanish: true}]',
    /incidents\.0: name either a pipe or an alert/,
  ],
  [
    'an incident without a deed',
    'incidents: [{pipe: a, afterMs: 1}]',
    /incidents\.0: say either change or vanish/,
  ],
  [
    'an alert that vanishes',
    'incidents: [{alert: a, afterMs: 1, vanish: true}]',
    /incidents\.0: an alert cannot vanish/,
  ],
])('refused: %s', async (_why, text, message) => {
  const file = join(folder, 'fixture.yaml')
  await rm(file, { force: true })
  if (text !== undefined) await writeFile(file, text)
  const error = await readFixture(file, DEFAULT).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SandboxFileError)
  expect(error).toHaveProperty('message', expect.stringMatching(message))
})

test('what a fixture says is there, is there', async () => {
  const service = { organizationId: ORGANIZATION, serviceId: SERVICE_ID }
  const endpoint = { ...service, id: SERVICE_ID, allowedOrigins: 'a.example' }
  const fixture: FixtureInput = {
    alerts: [ALERT],
    pipes: [
      { ...PIPE, createdAt: '2026-01-02T03:04:05.678Z' },
      { ...PIPE, id: ORGANIZATION, state: 'Paused' },
    ],
    endpoints: [endpoint],
    credentials: [{ keyId: 'w', keySecret: 's' }],
    alertTokens: ['w'],
  }
  await using sandbox = await givenSandbox({ fixture })
  const headers = { authorization: `Basic ${btoa('w:s')}` }
  const { result } = (await ask(sandbox, `${PIPES}/${ID}`, { headers })).body
  expect(result).toMatchObject({
    id: ID,
    name: 'orders',
    state: 'Running',
    createdAt: '2026-01-02T03:04:05.678Z',
  })
  expect(JSON.stringify(result)).not.toMatch(/p1|p2|validateSamples|roles/)
  expect((await ask(sandbox, `${PIPES}/${ORGANIZATION}`)).body.result.state).toBe('Paused')
  expect((await ask(sandbox, ENDPOINT, { body: {} })).body.result.id).toBe(SERVICE_ID)
  const alert = await ask(sandbox, '/api/v2/alerts/alert-1', { headers: { authorization: 'Bearer w' } })
  expect(alert.body.data).toEqual(ALERT)
})

test('a fixture is applied once in the life of a file: what vanished stays away, what is new comes', async () => {
  const file = join(folder, 'sandbox.db')
  {
    await using sandbox = await givenSandbox({ file, fixture: { pipes: [PIPE] } })
    sandbox.vanish(ID)
  }
  const more = { ...PIPE, id: ORGANIZATION, name: 'more' }
  await using sandbox = await givenSandbox({ file, fixture: { pipes: [PIPE, more] } })
  expect(sandbox.pipes().map(({ name }) => name)).toEqual(['more'])
})

test('incidents happen when their time has come, once each, also to pipes that come later', async () => {
  let now = 1_000_000
  await using sandbox = await givenSandbox({
    now: () => now,
    fixture: {
      alerts: [ALERT],
      incidents: [
        { pipe: 'orders', afterMs: 3_000, vanish: true },
        { pipe: 'orders', afterMs: 1_000, change: { scaling: { replicas: 1 } } },
        { alert: 'alert-1', afterMs: 2_000, change: { state: 'ALERT' } },
      ],
    },
  })
  now += 500
  const { id } = (await ask(sandbox, PIPES, { body: ORDERS })).body.result
  const other = (await ask(sandbox, PIPES, { body: { ...ORDERS, name: 'other' } })).body.result.id
  const replicas = async () => (await ask(sandbox, `${PIPES}/${id}`)).body.result?.scaling.replicas
  const alert = async () => (await ask(sandbox, '/api/v2/alerts/alert-1')).body.data.state
  now += 999
  expect([await replicas(), await alert()]).toEqual([2, 'OK'])
  now += 1
  expect([await replicas(), await alert()]).toEqual([1, 'OK'])
  sandbox.change(id, { scaling: { replicas: 5 } })
  now += 500
  expect([await replicas(), await alert()]).toEqual([5, 'ALERT']) // not changed a second time
  now += 1_500
  expect((await ask(sandbox, `${PIPES}/${id}`)).status).toBe(404)
  expect((await ask(sandbox, `${PIPES}/${other}`)).body.result.scaling.replicas).toBe(2)
})
