import { expect, test } from 'vitest'
import { overdueChecks } from '../../src/reconcile/overdue.ts'
import { given, HOUR, MINUTE } from './given.ts'
import { endpoint, pipe, service } from './manifests.ts'

const SUSPEND = { suspend: { reason: 'a test', until: '2099-01-01T00:00:00Z' } }

const FILES = {
  'service.yaml': service(),
  'a.yaml': pipe('a'),
  'b.yaml': pipe('b', { policy: { interval: '1h' } }),
  'e.yaml': endpoint('analytics'),
}

test('checks are overdue that an earlier process made longer ago than their interval, until this one has made them', async () => {
  const before = await given(FILES)
  for (const key of ['Service/analytics', 'Pipe/a', 'Pipe/b', 'QueryEndpoint/analytics'] as const)
    await before.go(key)
  expect(overdueChecks(before.context)).toBe(0)
  const checkedAt = new Map(before.keys().map((key) => [key, before.context.clock.now()]))
  await before.clock.advance(2 * MINUTE)

  const soon = await given(FILES, { around: before.around })
  soon.context.store.noteChecked(checkedAt)
  expect(overdueChecks(soon.context)).toBe(0)

  soon.clock.jump(HOUR)
  expect(overdueChecks(soon.context), 'time that only the wall clock shows').toBe(0)
  soon.clock.jump(-HOUR)

  await before.clock.advance(10 * MINUTE)
  const late = await given(FILES, { around: before.around })
  late.context.store.noteChecked(checkedAt)
  expect(overdueChecks(late.context)).toBe(1)
  await late.clock.advance(HOUR)
  expect(overdueChecks(late.context)).toBe(3)
  late.write('b.yaml', pipe('b', { policy: SUSPEND }))
  expect(overdueChecks(late.context)).toBe(2)
  await late.go('Pipe/a')
  expect(overdueChecks(late.context)).toBe(1)
})
