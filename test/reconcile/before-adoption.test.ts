import { expect, test } from 'vitest'
import { LISTING } from './given-listing.ts'
import { given, type Given, type ProcessOptions } from './given.ts'
import { service } from './manifests.ts'
import { play, story, times, worldAfter } from './story.ts'

/* Pipes that Git or an earlier read knows, and the ledger does not know in that form. */

const ANY = { maxCreates: Infinity }
const LISTED = { profile: LISTING, ...ANY }
const SAME = 'name=orders topics=orders'
const COPY = `write b ${SAME}; write a ${SAME}`

async function withoutLedger(before: Given, text: string): Promise<Given> {
  for (const record of await before.around.ledger.list()) await before.around.ledger.remove(record, [])
  before.around.directory.files.clear()
  return play(await given({}, { ...ANY, around: before.around }), text)
}

test.each<[string, string, string]>([
  ['a copy', `${COPY}; look b: New; look a: Ambiguous`, `${COPY}; lock b=#1; look a; look b; look a`],
  [
    'a copy, and the adoption fails for now',
    'write b; look b: New',
    'write b; write c name=b topics=b; lock b=#1; get: unavailable; look b; look c',
  ],
  [
    'a rename since the Lock was made',
    `write old ${SAME}; look old: New; remove old; write new ${SAME} renamedFrom=Pipe/old; read again; look new`,
    `write new ${SAME} renamedFrom=Pipe/old; write a ${SAME}; lock old=#1; look a; look new; look a`,
  ],
])('after a lost ledger with a Lock, no second pipe: %s', async (_, before, after) => {
  const world = await withoutLedger(await worldAfter(before, {}, ANY), after)
  expect(world.platform.posts).toHaveLength(1)
})

const SEEN = 'write orders; look orders; 2 min; edit #1 name=sales topics=sales; look orders: Drifted'

test.each<[string, string, number, ProcessOptions?]>([
  ['a pipe that Git adopts', `make orders; ${COPY.replace('; ', ' adopt=#1; ')}; look a; look b`, 0],
  ['a drifted pipe', `${SEEN}; write sales; look sales: Ambiguous`, 1],
  [
    'a drifted pipe with an invalid manifest',
    `${SEEN}; write orders invalid; look orders; write sales; look sales`,
    1,
  ],
  [
    'a pipe adopted by mistake',
    'make sales; write orders adopt=#1; look orders; look orders; write sales; look sales',
    0,
  ],
  [
    'a pipe with its source, in a list',
    'write orders; look orders; 2 min; edit #1 topics=sales; look orders: Drifted; write sales name=other topics=sales; look sales',
    1,
    LISTED,
  ],
])('a manifest like %s is not created', (_, text, sent, options = ANY) => story(text, { sent }, options))

test.each([COPY, `write b topics=other; write a ${SAME}`])(
  'the list gives no pipe away that a Lock assigns to another key: %s',
  (both) =>
    story(`make orders; ${both}; lock b=#1; look a; look b`, { sent: 0, holds: { 'Pipe/b': '1' } }, LISTED),
)

test('a stale checkout adopts nothing from the list', () =>
  story(
    'make orders; write orders; look orders: NotLeading',
    { holds: {} },
    { ...LISTED, olderThan: () => 'r2' },
  ))

test('404s of the former pipe do not count for the pipe that a person adopted in its place', async () => {
  const names = ['orders', 'other', 'third', 'fourth']
  const all = names.map((name) => `look ${name}`).join('; ')
  const world = await worldAfter(
    `${names.map((name) => `write ${name}`).join('; ')}; ${all}; 2 min; ${all}; make orders topics=orders;
    delete orders; look orders; 31 s; look other; look orders; 31 s; look other;
    recreate orders; adopt orders=#5; get: throttled; look orders; 61 s; look other`,
    {},
    ANY,
  )
  world.platform.hidden.add('00000000-0000-4000-8000-000000000005')
  await play(world, 'look orders: MissingUnconfirmed')
  expect(world.platform.posts).toHaveLength(4)
})

test('two missing pipes do not ask for each other without a pause', async () => {
  const looks = 'look a; look b; look c'
  const world = await worldAfter(`write a; write b; write c; ${looks}; 5 min; ${looks}; 1 min`, {}, ANY)
  await play(world, 'hide a; hide b; look a; look b')
  const asked = [await world.go('Pipe/a'), await world.go('Pipe/b')].map(({ also }) => also)
  expect(asked).toEqual([['Pipe/c'], ['Pipe/c']])
})

test('a command for one pipe does not break others that wait for the same list', async () => {
  const world = await worldAfter('write a; write b; look a; look b; 1 h; look a; look b; 1 h', {}, LISTED)
  const until = Promise.withResolvers<void>()
  world.platform.script('list', { type: 'slow', until: until.promise })
  const stop = new AbortController()
  const [a, b] = [world.begin('Pipe/a', stop.signal), world.begin('Pipe/b')]
  for (let hop = 0; hop < 200; hop += 1) await Promise.resolve()
  stop.abort(new DOMException('a person decides', 'AbortError'))
  expect((await a).outcome.result).toBe('stopped')
  expect((await b).action.reason).toBe('InSync')
})

test('corrected ids of a Service end the back-off of its creates', async () => {
  const refused = `${times(9, 'create: unauthorised')}; write a; ${times(8, 'look a; 5 min')}; look a`
  const world = await worldAfter(refused, { sent: 9 }, ANY)
  world.write('service.yaml', service('analytics', '22222222-0000-4000-8000-000000000002'))
  await play(world, 'look a')
  expect(world.platform.posts).toHaveLength(10)
})
