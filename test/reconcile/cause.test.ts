import { describe, expect, test } from 'vitest'
import type { ResourceView } from '../../src/contract/view.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { Condition } from '../../src/plan/condition.ts'
import { type FactsOf, type Reason, REASONS } from '../../src/plan/reason.ts'
import { createProblemTracker } from '../../src/reconcile/state/problem-tracker.ts'
import { resource } from '../server/fake-parts.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const FINE: Condition = { status: 'True', reason: 'Valid', since: 0 }

interface Trouble {
  readonly reason: Reason
  readonly service?: string
  readonly facts?: FactsOf<Reason>
}

function troubled(key: Key, { reason, service, facts }: Trouble): ResourceView {
  const condition: Condition = { ...FINE, status: 'False', reason, ...(facts === undefined ? {} : { facts }) }
  const isInvalid = reason === 'InvalidManifest'
  const conditions = isInvalid
    ? { Valid: condition, Synced: FINE, Ready: FINE }
    : { Valid: FINE, Synced: condition, Ready: condition }
  const { status } = REASONS[reason]
  return resource(key, { status, reason, service, conditions })
}

/** Each ends with how many share each cause. */
const ROWS: Readonly<Record<string, readonly Trouble[]>> = {
  'an outage of the platform is one, over all services: 3': [
    { reason: 'Unavailable', service: 'a' },
    { reason: 'Unavailable', service: 'b' },
    { reason: 'Unavailable' },
  ],
  'refused credentials are one for each service: 2, 1': [
    { reason: 'AuthFailed', service: 'a' },
    { reason: 'AuthFailed', service: 'b' },
    { reason: 'AuthFailed', service: 'a' },
  ],
  'the create limit is one for each service: 2, 1': [
    { reason: 'CreateLimit', service: 'a' },
    { reason: 'CreateLimit', service: 'b' },
    { reason: 'CreateLimit', service: 'a' },
  ],
  'equal mistakes are one, wherever they stand: 2, 1': [
    { reason: 'InvalidManifest', facts: { said: 'a.yaml:3: no', mistake: 'unknown-field: no' } },
    { reason: 'InvalidManifest', facts: { said: 'b.yaml:9: no', mistake: 'unknown-field: no' } },
    { reason: 'InvalidManifest', facts: { said: 'c.yaml:9: other', mistake: 'unknown-field: other' } },
  ],
  'an error that says nothing of its mistake stands alone: 1, 1': [
    { reason: 'InvalidManifest' },
    { reason: 'InvalidManifest' },
  ],
  'those that wait for the same are one: 2, 1': [
    { reason: 'DependencyNotReady', facts: { waitsFor: ['Alert/x'] } },
    { reason: 'DependencyNotReady', facts: { waitsFor: ['Alert/x'] } },
    { reason: 'DependencyNotReady', facts: { waitsFor: ['Alert/y'] } },
  ],
  'a file that may hold a Lock is one, over all services, and apart from a broken Service: 3, 1': [
    { reason: 'DependencyNotReady', service: 'a', facts: { unreadable: ['x.yaml'], more: 0 } },
    { reason: 'DependencyNotReady', service: 'a', facts: { is: 'not found', service: 'Service/a' } },
    { reason: 'DependencyNotReady', service: 'b', facts: { unreadable: ['x.yaml'], more: 0 } },
    { reason: 'DependencyNotReady', service: 'c', facts: { unreadable: ['x.yaml'], more: 0 } },
  ],
  'a few that drifted are each for itself: 1, 1': [
    { reason: 'Drifted', service: 'a' },
    { reason: 'Drifted', service: 'a' },
  ],
  'many orphans of one service are one: 5': Array.from(
    { length: 5 },
    () => ({ reason: 'Orphaned', service: 'a' }) as const,
  ),
  'unknown outcomes are never one: each is another pipe to look for: 1, 1, 1, 1, 1': Array.from(
    { length: 5 },
    () => ({ reason: 'OutcomeUnknown', service: 'a' }) as const,
  ),
}

describe('one cause', () => {
  test.each(Object.entries(ROWS))('%s', (title, troubles) => {
    const all = troubles.map((trouble, index) => troubled(`Pipe/p${index}`, trouble))
    const board = { list: () => all, get: (key: Key) => all.find((view) => view.key === key) }
    const tracker = createProblemTracker({ clock: createFakeClock(), emit: () => undefined }, board)
    const groups = Map.groupBy(all, ({ key }) => tracker.of(key)?.id)
    expect([...groups.values()].map((group) => group.length).join(', ')).toBe(title.split(': ').at(-1))
  })
})
