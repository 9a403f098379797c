import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { NoConnectionError, openTcp, sharedLookup } from '../../src/platform/tcp-connection.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const LIMIT_MS = 10_000

/** ms until it connects, or the code of its failure. `dead`: it never answers. */
type Answer = number | string

class FakeSocket extends EventEmitter {
  destroyed = false
  readonly address: string

  constructor(address: string) {
    super()
    this.address = address
  }

  destroy(): void {
    this.destroyed = true
  }
}

/** A host with these addresses. The result names the connected address or the error, with its time. */
async function connect(answers: Readonly<Record<string, Answer>>, limitMs = LIMIT_MS, lookupMs = 0) {
  const clock = createFakeClock()
  const sockets: FakeSocket[] = []
  const dialled: string[] = []
  const { promise: found, resolve: find } = Promise.withResolvers<void>()
  if (lookupMs === 0) find()
  else clock.after(lookupMs, find)
  const opening = openTcp({ host: 'platform.test', port: 443 }, limitMs, {
    async lookup() {
      await found
      return Object.keys(answers).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
    dial(address) {
      const socket = new FakeSocket(address)
      sockets.push(socket)
      dialled.push(`${address} ${clock.monotonic()}`)
      const answer = answers[address] ?? 'dead'
      if (typeof answer === 'number') clock.after(answer, () => socket.destroyed || socket.emit('connect'))
      else if (answer !== 'dead')
        queueMicrotask(() => {
          socket.destroy()
          socket.emit('error', Object.assign(new Error('x'), { code: answer }))
        })
      return socket as unknown as Socket
    },
    after: (ms, callback) => clock.after(ms, callback),
  })
  const result = opening.then(
    (socket) => `${(socket as unknown as FakeSocket).address} after ${clock.monotonic()}`,
    (error: unknown) => {
      if (!(error instanceof NoConnectionError)) throw error
      return `${error.code} of ${error.addresses.join(', ')} after ${clock.monotonic()}`
    },
  )
  await clock.advance(2 * limitMs)
  return { said: await result, dialled, open: sockets.filter(({ destroyed }) => !destroyed), clock }
}

const [A, B, C, D, E] = ['2001:db8::1', '10.9.0.2', '2001:db8::2', '10.9.0.3', '10.9.0.4'] as const

test.each([
  ['one address', { [B]: 5 }, `${B} after 5`],
  ['one slow address', { [B]: 9_000 }, `${B} after 9000`],
  ['a dead address, then a slow one', { [A]: 'dead', [B]: 600 }, `${B} after 850`],
  ['a slow address, then a dead one', { [B]: 600, [A]: 'dead' }, `${B} after 600`],
  ['a slow address between dead ones', { [A]: 'dead', [B]: 3_000, [C]: 'dead' }, `${B} after 3250`],
  ['the last of one family', { [A]: 'dead', [C]: 'dead', [B]: 'dead', [D]: 600 }, `${D} after 1350`],
  ['the last of all', { [A]: 'dead', [C]: 'dead', [B]: 'dead', [D]: 'dead', [E]: 4_000 }, `${E} after 5000`],
  ['the quicker one, though it starts later', { [A]: 2_000, [B]: 100 }, `${B} after 350`],
  ['a refusal starts the next immediately', { [A]: 'ECONNREFUSED', [B]: 7 }, `${B} after 7`],
  ['all refuse', { [A]: 'ENETUNREACH', [B]: 'ECONNREFUSED' }, `ECONNREFUSED of ${A}, ${B} after 0`],
  ['no way to any', { [A]: 'ENETUNREACH', [B]: 'EHOSTUNREACH' }, `ENETUNREACH of ${A}, ${B} after 0`],
  ['all are dead', { [A]: 'dead', [B]: 'dead' }, `UND_ERR_CONNECT_TIMEOUT of ${A}, ${B} after ${LIMIT_MS}`],
  [
    'one refuses, one is dead',
    { [A]: 'ECONNREFUSED', [B]: 'dead' },
    `UND_ERR_CONNECT_TIMEOUT of ${A}, ${B} after ${LIMIT_MS}`,
  ],
  ['no address', {}, 'ENOTFOUND of  after 0'],
] as const)('%s', async (_why, answers, says) => {
  const { said, open, clock } = await connect(answers)
  expect(said).toBe(says)
  // Only the socket of the caller stays open, and no timer.
  expect(open.map(({ address }) => address)).toEqual(said.includes(' of ') ? [] : [said.split(' ')[0]])
  expect(clock.pending).toBe(0)
})

test('attempts start 250 ms apart', async () => {
  const { dialled } = await connect({ [B]: 'dead', [D]: 'dead', [E]: 'dead', [A]: 'dead' })
  expect(dialled).toEqual([`${B} 0`, `${D} 250`, `${E} 500`, `${A} 750`])
})

test('all of a hundred addresses are tried within half of the limit', async () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`10.0.0.${n}`, 'dead' as const]))
  const { said, dialled } = await connect({ ...many, '10.0.0.99': 4_000 })
  expect(dialled).toHaveLength(100)
  expect(said).toBe('10.0.0.99 after 8950')
})

test('connections to a host share its lookup, and a later one looks again', async () => {
  const asked: string[] = []
  const answers: (() => void)[] = []
  const lookup = sharedLookup(async (host) => {
    asked.push(host)
    await new Promise<void>((resolve) => answers.push(resolve))
    if (host === 'dead') throw new Error('ENOTFOUND')
    return []
  })
  const both = [lookup('a'), lookup('a'), lookup('dead').catch(String), lookup('dead').catch(String)]
  expect(asked).toEqual(['a', 'dead'])
  for (const answer of answers) answer()
  expect(await Promise.all(both)).toEqual([[], [], 'Error: ENOTFOUND', 'Error: ENOTFOUND'])
  void lookup('dead')
  expect(asked).toEqual(['a', 'dead', 'dead'])
})

test('the resolver counts towards the limit', async () => {
  expect((await connect({ [B]: 5 }, 1_000, 990)).said).toBe(`${B} after 995`)
  const { said, dialled } = await connect({ [B]: 5 }, 1_000, 1_001)
  expect(said).toBe('ETIMEOUT of  after 1000')
  expect(dialled).toEqual([])
})
