import { expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { passOver } from '../../src/daemon/pass.ts'
import { systemClock } from '../../src/daemon/system-clock.ts'
import { alert, endpoint, pipe } from '../reconcile/manifests.ts'
import { given } from '../reconcile/given.ts'

const never = new AbortController().signal

/** One pass with the real dispatcher. @returns what was decided, in the order in which it was */
async function pass(files: Readonly<Record<string, string>>, alerts: readonly string[] = []) {
  const world = await given(files)
  for (const id of alerts) world.platform.alerts.set(id, { state: 'ok' })
  const decided: string[] = []
  await passOver({
    context: { ...world.context, clock: systemClock },
    reconciler: world.reconciler,
    concurrency: 8,
    urgency: 'normal',
    stopping: never,
    deadline: () => never,
    onStart: () => undefined,
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
  expect(decided.map((line) => line.split(' ')[0])).toEqual([
    'Service/analytics',
    'Pipe/e',
    'Pipe/d',
    'Pipe/c',
    'Pipe/b',
    'Pipe/a',
  ])
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
