import { expect, test } from 'vitest'
import { decide } from '../../src/plan/decide.ts'
import type { Listed } from '../../src/plan/input.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { created, intent, MINUTE, missed, MISSING, OTHER_ID, pipe, PIPE_ID } from './inputs.ts'

/* What the list of all pipes of a service decides (design §14). */

const blank = blankRecord('Pipe/orders')
const unknown = { ...blank, version: 2, intent: intent('unknown') }
const failed = { ...blank, version: 2, intent: intent('failed') }

function listed(changes: Partial<Listed> = {}): { readonly listed: Listed } {
  return { listed: { name: 'orders', candidates: [], hasOwn: false, doubtful: undefined, ...changes } }
}

const EQUAL = { id: PIPE_ID, listedAs: 'orders', differs: [] }
const OTHER = { id: OTHER_ID, listedAs: 'orders', differs: [] }
const CHANGED = { id: PIPE_ID, listedAs: 'orders', differs: ['scaling.replicas'] }
const DOUBTFUL = { doubtful: { missing: 3, of: 4 } }

/** Each ends with its action and its reason. */
const ROWS: Readonly<Record<string, Parameters<typeof pipe>[0]>> = {
  'nothing of the name: it is created: create New': { surroundings: listed() },
  'one that is the same: it is adopted, and no resource is created: adopt Adopt': {
    surroundings: listed({ candidates: [EQUAL] }),
  },
  'an adoption is no creation: the create limit does not hold it: adopt Adopt': {
    surroundings: {
      ...listed({ candidates: [EQUAL] }),
      createLimit: { service: 'analytics', wanted: 30, made: 0, limit: 25 },
    },
  },
  'what failed before may be there all the same: adopt Adopt': {
    recorded: failed,
    surroundings: listed({ candidates: [EQUAL] }),
  },
  'two of the name: which one, a person knows: refuse Ambiguous': {
    surroundings: listed({ candidates: [EQUAL, OTHER] }),
  },
  'one that differs may be somebody else’s: refuse Ambiguous': {
    surroundings: listed({ candidates: [CHANGED] }),
  },
  'the manifest asks to be asked: refuse Ambiguous': {
    policy: { onUnknown: 'ask' },
    surroundings: listed({ candidates: [EQUAL] }),
  },
  'a list without what is recorded is not believed: refuse MassMissing': { surroundings: listed(DOUBTFUL) },
  'an unknown outcome, and nothing of the name: a person has to look, as before: refuse OutcomeUnknown': {
    recorded: unknown,
    surroundings: listed(),
  },
  'a list that is not believed says nothing of an unknown outcome: refuse OutcomeUnknown': {
    recorded: unknown,
    surroundings: listed(DOUBTFUL),
  },
  'a stale checkout settles no unknown outcome: refuse OutcomeUnknown': {
    recorded: unknown,
    surroundings: { ...listed({ candidates: [EQUAL] }), olderThan: 'r2' },
  },
  'a name in the manifest comes first: adopt Adopt': {
    policy: { adopt: OTHER_ID },
    surroundings: listed({ candidates: [EQUAL] }),
  },
  'one that is gone, and nothing in its place: it is created again: create Missing': {
    recorded: created(),
    observed: MISSING,
    surroundings: listed(),
  },
  'one that is gone, and somebody made it again: adopt Adopt': {
    recorded: created(),
    observed: MISSING,
    surroundings: listed({ candidates: [OTHER] }),
  },
  'one that is not found by its id and is in the list is not gone: hold MissingUnconfirmed': {
    recorded: created(),
    observed: MISSING,
    surroundings: listed({ hasOwn: true }),
  },
  'nor is it when a person says so: hold MissingUnconfirmed': {
    recorded: created(),
    observed: missed(1, MINUTE),
    policy: { recreate: PIPE_ID },
    surroundings: listed({ hasOwn: true }),
  },
}

test.each(Object.entries(ROWS))('%s', (title, changes) => {
  const { type, reason } = decide(pipe(changes))
  expect(`${type} ${reason}`).toBe(title.split(': ').at(-1))
})
