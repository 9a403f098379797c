import { expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { reconcileAll, type Wait } from '../../src/daemon/pass.ts'
import { alert, endpoint, pipe } from '../reconcile/manifests.ts'
import { given, type Given, HOUR } from '../reconcile/given.ts'
import { condition, resource } from '../server/fake-parts.ts'

const never = new AbortController().signal

/** One pass with the real dispatcher. @returns what was decided, in the order in which it was */
async function pass(files: Readonly<Record<string, string>>, alerts: readonly string[] = []) {
  const world = await given(files)
  for (const id of alerts) world.platform.alerts.set(id, { state: 'ok' })
  return passOf(world)
}

async function passOf(world: Given, wait?: Wait): Promise<readonly string[]> {
  const decided: string[] = []
  await reconcileAll({
    ...(wait && { wait }),
    context: world.context,
    reconciler: world.reconciler,
    concurrency: 8,
    urgency: 'normal',
    stopping: never,
    deadline: () => never,
    onReconciled: (key: Key, { action }) => void decided.push(`${key} ${action.type}`),
  })
  return decided
}

const after = (name: string) => ({ dependsOn: [`Pipe/${name}`] })

test('each key comes after what it depends on, however long the chain and whatever its name', async () => {
  const decided = await pass({
    'a.yaml': pipe('a', { policy: after('b') }),
    'b.yaml': pipe('b', { policy: after('c') }),
    'c.yaml': pipe('c', { policy: after('d') }),
    'd.yaml': pipe('d', { policy: after('e') }),
    'e.yaml': pipe('e'),
  })
  expect(decided[0]).toContain('Service/analytics')
  const pipes = decided.map((line) => line.split(' ')[0]).filter((key) => key !== 'Service/analytics')
  expect(pipes).toEqual(['Pipe/e', 'Pipe/d', 'Pipe/c', 'Pipe/b', 'Pipe/a'])
})

test('what waits for many is decided once, when the last of them was looked at', async () => {
  const names = ['one', 'two', 'three', 'four', 'five']
  const files = Object.fromEntries(names.map((name) => [`${name}.yaml`, alert(name)]))
  const dependsOn = names.map((name) => `Alert/${name}`)
  const decided = await pass(
    { ...files, 'a.yaml': endpoint('a', {}, { dependsOn }) },
    names.map((name) => `id-of-${name}`),
  )
  expect(decided.filter((line) => line.startsWith('QueryEndpoint/'))).toEqual(['QueryEndpoint/a upsert'])
})

test('what was refused while a rename still looked like a creation is created in the same pass', async () => {
  const named = { platformName: 'old', topics: 'old' }
  const before = await given({ 'old.yaml': pipe('old', named) })
  await before.go('Pipe/old')
  await before.clock.advance(2 * HOUR)
  before.remove('old.yaml')
  before.write('z-new.yaml', pipe('z-new', named))
  before.write('another.yaml', pipe('another'))
  const world = await given({}, { around: before.around, maxCreates: 1 })
  world.readAgain()
  const decided = await passOf(world)
  expect(decided).toContain('Pipe/another refuse')
  expect(decided.at(-1)).toBe('Pipe/another create')
  expect(world.platform.posts).toHaveLength(2)
})

test('with a wait, it ends when what it created runs and what waited for that was created', async () => {
  const world = await given({ 'a.yaml': pipe('a'), 'b.yaml': pipe('b', { policy: after('a') }) })
  const looks: string[] = []
  const onLook = (moving: ReadonlySet<Key>, of: number) => looks.push(`${of - moving.size} of ${of}`)
  const wait = { board: world.board, waitsFor: 'all', limitMs: HOUR, onLook } as const
  const provisioning = { type: 'other', change: { state: 'Provisioning' } } as const
  world.platform.always('create', provisioning)
  world.platform.always('get', provisioning)
  const passed = passOf(world, wait)
  await world.clock.advance(HOUR / 60)
  expect(world.platform.posts).toHaveLength(1)
  world.platform.always('get', 'ok')
  await world.clock.advance(2 * HOUR)
  expect(await passed).toContain('Pipe/b create')
  expect(looks.at(-1)).toBe('2 of 2')
})

test('with a wait, it ends when the grace of a deletion is over and the pipe is gone', async () => {
  const world = await given({ 'a.yaml': pipe('a') })
  await world.go('Pipe/a')
  const { clock, board } = world
  const Synced = condition('False', { reason: 'Deleting' })
  const conditions = { Valid: condition('True'), Synced, Ready: condition('True') }
  const deleting = resource('Pipe/a', { status: 'Progressing', reason: 'Deleting', conditions })
  const goneAt = clock.monotonic() + HOUR / 6
  const shown: Wait['board'] = {
    ...board,
    get: (key) => (key === 'Pipe/a' && clock.monotonic() < goneAt ? deleting : board.get(key)),
  }
  let ended = false
  const wait = { board: shown, waitsFor: 'all', limitMs: HOUR, onLook: () => undefined } as const
  const passed = passOf(world, wait).then(() => (ended = true))
  await clock.advance(HOUR / 7)
  expect(ended).toBe(false)
  await clock.advance(HOUR / 20)
  expect(await passed).toBe(true)
})
