import { expect, it } from 'vitest'
import { LedgerError } from '../../src/contract/ledger.ts'
import type { OperatorCommand } from '../../src/contract/person-command.ts'
import { fakeOperator, fakeParts, overview } from './fake-parts.ts'
import { ask, running } from './running.ts'

const RESULT = { result: 'refused', message: 'because' } as const
const FORGET = { command: 'forget', key: 'Pipe/orders' }

async function post(
  body: unknown,
  over: Parameters<typeof fakeParts>[0] = {},
  token = 'the-token-of-the-owner',
  path = 'operate',
) {
  const asked: OperatorCommand[] = []
  const operator = fakeOperator({
    adminToken: undefined,
    async operate(command) {
      asked.push(command)
      return RESULT
    },
  })
  const { url } = await running(fakeParts({ operator, ...over }))
  const answer = await ask(`${url}/-/${path}`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`:${token}`)}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { ...answer, asked }
}

it('hands over the command of who has the token of the owner, also without an admin token', async () => {
  const { status, body, asked } = await post(FORGET)
  expect([status, body, asked]).toEqual([200, RESULT, [FORGET]])
})

it('asks for no token where none is set, and says how to set one', async () => {
  const { status, body, asked } = await post(FORGET, {}, 'another')
  expect([status, asked]).toEqual([404, []])
  expect(body['hint']).toContain('--admin-token-file')
})

it.each([
  ['another command', { command: 'create', key: 'Pipe/orders' }],
  ['no key', { command: 'forget' }],
  ['a key of no kind', { command: 'forget', key: 'Pod/orders' }],
  ['a member too many', { ...FORGET, force: true }],
  ['an end that is no time', { command: 'suspend', key: 'Pipe/orders', reason: 'x', until: 'tomorrow' }],
])('refuses %s', async (_, sent) => {
  const { status, asked } = await post(sent)
  expect([status, asked]).toEqual([400, []])
})

it('a process on standby names the leader, and one that starts says so', async () => {
  const leader = { holder: 'pipewright-1', url: undefined }
  const standby = await post(FORGET, { overview: () => overview({ standsBy: true, leader }) })
  expect([standby.status, standby.asked]).toEqual([409, []])
  const operator = fakeOperator({ operate: () => undefined })
  expect((await post(FORGET, { operator })).status).toBe(503)
})

it.each([
  ['a ledger that cannot be written', new LedgerError('io', 'the disk is full'), 500, 'the disk is full'],
  ['a stop', new DOMException('a stop', 'AbortError'), 503, 'the process is stopping'],
  ['a bug', new Error('what only the log says'), 500, 'the request could not be answered'],
])('says that %s ended the command', async (_, error, status, said) => {
  const fails = () => Promise.reject(error)
  const operator = fakeOperator({ adminToken: undefined, operate: fails, allow: fails })
  const answer = await post(FORGET, { operator })
  expect([answer.status, answer.body['error']]).toEqual([status, said])
  const allowed = await post({}, { operator }, undefined, 'allow')
  expect([allowed.status, allowed.body['error']]).toEqual([status, said])
})

it('before the first read, nothing is blocked that anyone knows of: allow says that the process starts', async () => {
  expect(
    (await post({}, { ready: () => ({ ok: false, detail: 'starting' }) }, undefined, 'allow')).status,
  ).toBe(503)
})

it('lets nobody allow without the right token, and refuses a misspelt member', async () => {
  const operator = fakeOperator({
    adminToken: () => Promise.resolve('another'),
    allow: () => Promise.resolve({ allowed: [] }),
  })
  for (const path of ['allow', 'operate', 'reconcile'])
    expect((await post(FORGET, { operator }, 'wrong', path)).status, path).toBe(401)
  expect((await post({}, { operator }, undefined, 'allow')).status).toBe(200)
  expect((await post({ services: 'analytics' }, { operator }, undefined, 'allow')).status).toBe(400)
})
