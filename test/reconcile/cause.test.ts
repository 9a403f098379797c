import { describe, expect, test } from 'vitest'
import type { ResourceView } from '../../src/contract/view.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { Condition } from '../../src/plan/condition.ts'
import { type ReasonFacts, type Reason, REASONS } from '../../src/plan/reason.ts'
import { createProblemTracker } from '../../src/reconcile/state/problem-tracker.ts'
import { resource } from '../server/fake-parts.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const FINE: Condition = { status: 'True', reason: 'Valid', since: 0 }

interface Trouble {
  readonly reason: Reason
  readonly service?: string
  readonly facts?: ReasonFacts
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

const ROWS: Readonly<
  Record<
    string,
    {
      readonly troubles: readonly Trouble[]
      /** How many share each cause. */
      readonly is: readonly number[]
    }
  >
> = {
  'an outage of the platform is one, over all services': {
    troubles: [
      { reason: 'Unavailable', service: 'a' },
      { reason: 'Unavailable', service: 'b' },
      { reason: 'Unavailable' },
    ],
    is: [3],
  },
  'refused credentials are one for each service': {
    troubles: [
      { reason: 'AuthFailed', service: 'a' },
      { reason: 'AuthFailed', service: 'b' },
      { reason: 'AuthFailed', service: 'a' },
    ],
    is: [2, 1],
  },
  'the create limit is one for each service': {
    troubles: [
      { reason: 'CreateLimit', service: 'a' },
      { reason: 'CreateLimit', service: 'b' },
      { reason: 'CreateLimit', service: 'a' },
    ],
    is: [2, 1],
  },
  'equal mistakes are one, wherever they stand': {
    troubles: [
      { reason: 'InvalidManifest', facts: { said: 'a.yaml:3: no', mistake: 'unknown-field: no' } },
      { reason: 'InvalidManifest', facts: { said: 'b.yaml:9: no', mistake: 'unknown-field: no' } },
      { reason: 'InvalidManifest', facts: { said: 'c.yaml:9: other', mistake: 'unknown-field: other' } },
    ],
    is: [2, 1],
  },
  'an error that says nothing of its mistake stands alone': {
    troubles: [{ reason: 'InvalidManifest' }, { reason: 'InvalidManifest' }],
    is: [1, 1],
  },
  'those that wait for the same are one': {
    troubles: [
      { reason: 'DependencyNotReady', facts: { waitsFor: ['Alert/x'] } },
      { reason: 'DependencyNotReady', facts: { waitsFor: ['Alert/x'] } },
      { reason: 'DependencyNotReady', facts: { waitsFor: ['Alert/y'] } },
    ],
    is: [2, 1],
  },
  'a file that may hold a Lock is one, over all services, and apart from a broken Service': {
    troubles: [
      { reason: 'DependencyNotReady', service: 'a', facts: { unreadable: ['x.yaml'], more: 0 } },
      { reason: 'DependencyNotReady', service: 'a', facts: { is: 'not found', service: 'Service/a' } },
      { reason: 'DependencyNotReady', service: 'b', facts: { unreadable: ['x.yaml'], more: 0 } },
      { reason: 'DependencyNotReady', service: 'c', facts: { unreadable: ['x.yaml'], more: 0 } },
    ],
    is: [3, 1],
  },
  'a few that drifted are each for itself': {
    troubles: [
      { reason: 'Drifted', service: 'a' },
      { reason: 'Drifted', service: 'a' },
    ],
    is: [1, 1],
  },
  'many orphans of one service are one': {
    troubles: Array.from({ length: 5 }, () => ({ reason: 'Orphaned', service: 'a' }) as const),
    is: [5],
  },
  'unknown outcomes are never one: each is another pipe to look for': {
    troubles: Array.from({ length: 5 }, () => ({ reason: 'OutcomeUnknown', service: 'a' }) as const),
    is: [1, 1, 1, 1, 1],
  },
}

describe('one cause', () => {
  test.each(Object.entries(ROWS))('%s', (_why, { troubles, is }) => {
    const all = troubles.map((trouble, index) => troubled(`Pipe/p${index}`, trouble))
    const board = { list: () => all, get: (key: Key) => all.find((view) => view.key === key) }
    const tracker = createProblemTracker({ clock: createFakeClock(), emit: () => undefined }, board)
    const groups = Map.groupBy(all, ({ key }) => tracker.of(key)?.id)
    expect([...groups.values()].map((group) => group.length)).toEqual(is)
  })
})
