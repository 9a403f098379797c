import { expect, test } from 'vitest'
import type { Event } from '../../src/contract/events.ts'
import { given } from './given.ts'
import { play } from './story.ts'

/* What a reconcile tells. The log shows news at `info`, and the rest at `debug`. */

function lineOf(event: Event): readonly string[] {
  if (event.type === 'ConditionChanged') {
    const { condition, before, after, isNews } = event
    return [`${condition} ${before?.reason ?? '-'} to ${after.reason}${isNews ? ', news' : ''}`]
  }
  if (event.type === 'ReconcileFinished')
    return [`${event.action} ${event.result}${event.changed ? ', changed' : ''}`]
  return event.type === 'Forgotten' ? [`forgotten ${event.key}`] : []
}

const [NEW, GONE] = ['write orders; look orders', 'remove gone; read again; look gone: Orphaned']

const LIFE: readonly (readonly [string, readonly string[]])[] = [
  [NEW, ['Valid - to Valid', 'Synced - to InSync', 'Ready - to Healthy', 'create done, changed']],
  ['edit #1 state=Provisioning; look orders', ['Ready Healthy to Changing', 'observe done, changed']],
  ['edit #1 state=Running; look orders', ['Ready Changing to Healthy, news', 'observe done, changed']],
  ['edit #1 state=Failed; look orders', ['Ready Healthy to UnhealthyState', 'observe done, changed']],
  ['edit #1 state=Running; look orders', ['Ready UnhealthyState to Healthy', 'observe done, changed']],
  ['5 min; look orders', ['observe done']],
  ['write orders invalid; look orders', ['Valid Valid to InvalidManifest', 'hold done, changed']],
  [NEW, ['Valid InvalidManifest to Valid', 'observe done, changed']],
  [
    'write gone invalid; look gone',
    [...['Valid', 'Synced', 'Ready'].map((of) => `${of} - to InvalidManifest`), 'hold done, changed'],
  ],
  [GONE, ['forgotten Pipe/gone']],
  [
    'create: refused; write gone; look gone',
    ['Valid - to Valid', 'Synced - to Rejected', 'Ready - to Rejected', 'create failed, changed'],
  ],
  [GONE, ['forgotten Pipe/gone']],
]

test('what a reconcile tells of a life', async () => {
  const world = await given()
  Object.assign(world.context, { healthyStates: ['Running'] })
  for (const [steps, told] of LIFE) {
    world.events.splice(0)
    await play(world, steps)
    expect(world.events.flatMap(lineOf), steps).toEqual(told)
  }
})

test('how long it took from a change of a manifest until it was applied, if it was', async () => {
  const world = await play(await given(), 'write orders; write flawed invalid')
  const { signal } = new AbortController()
  const changedAt = world.clock.monotonic() - 7
  for (const key of ['Pipe/orders', 'Pipe/flawed'] as const)
    await world.reconciler.reconcile(key, {
      priority: 1,
      signal,
      reconcileId: key,
      changedAt,
      releaseSlot: async () => undefined,
    })
  const told = world.events.flatMap((event) =>
    event.type === 'ReconcileFinished' ? event.changeToApplyMs : [],
  )
  expect(told).toEqual([7, undefined])
})

test('a service is reachable after any answer but a rate limit', async () => {
  const since =
    'create: unavailable; write orders; look orders: Unavailable; look Service/analytics; shown Service/analytics: Unavailable'
  for (const [answer, shown] of [
    ['refused', 'Ready'],
    ['throttled', 'Unavailable'],
  ])
    await play(
      await given(),
      `${since}; create: ${answer}; 5 min; look orders; look Service/analytics; shown Service/analytics: ${shown}`,
    )
})
