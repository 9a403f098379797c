import { expect, test } from 'vitest'
import type { Action } from '../../src/plan/action.ts'
import { decide } from '../../src/plan/decide.ts'
import type { DecideInput, Listed } from '../../src/plan/input.ts'
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

const ROWS: Readonly<
  Record<string, { readonly input: DecideInput; readonly is: readonly [Action['type'], Action['reason']] }>
> = {
  'nothing of the name: it is created': { input: pipe({ surroundings: listed() }), is: ['create', 'New'] },
  'one that is the same: it is adopted, and no resource is created': {
    input: pipe({ surroundings: listed({ candidates: [EQUAL] }) }),
    is: ['adopt', 'Adopt'],
  },
  'an adoption is no creation: the create limit does not hold it': {
    input: pipe({
      surroundings: {
        ...listed({ candidates: [EQUAL] }),
        createLimit: { service: 'analytics', wanted: 30, made: 0, limit: 25 },
      },
    }),
    is: ['adopt', 'Adopt'],
  },
  'what failed before may be there all the same': {
    input: pipe({ recorded: failed, surroundings: listed({ candidates: [EQUAL] }) }),
    is: ['adopt', 'Adopt'],
  },
  'two of the name: which one, a person knows': {
    input: pipe({ surroundings: listed({ candidates: [EQUAL, OTHER] }) }),
    is: ['refuse', 'Ambiguous'],
  },
  'one that differs may be somebody else’s': {
    input: pipe({ surroundings: listed({ candidates: [CHANGED] }) }),
    is: ['refuse', 'Ambiguous'],
  },
  'the manifest asks to be asked': {
    input: pipe({ policy: { onUnknown: 'ask' }, surroundings: listed({ candidates: [EQUAL] }) }),
    is: ['refuse', 'Ambiguous'],
  },
  'a list without what is recorded is not believed': {
    input: pipe({ surroundings: listed(DOUBTFUL) }),
    is: ['refuse', 'MassMissing'],
  },
  'an unknown outcome, and nothing of the name: a person has to look, as before': {
    input: pipe({ recorded: unknown, surroundings: listed() }),
    is: ['refuse', 'OutcomeUnknown'],
  },
  'a list that is not believed says nothing of an unknown outcome': {
    input: pipe({ recorded: unknown, surroundings: listed(DOUBTFUL) }),
    is: ['refuse', 'OutcomeUnknown'],
  },
  'a name in the manifest comes first': {
    input: pipe({ policy: { adopt: OTHER_ID }, surroundings: listed({ candidates: [EQUAL] }) }),
    is: ['adopt', 'Adopt'],
  },
  'one that is gone, and nothing in its place: it is created again': {
    input: pipe({ recorded: created(), observed: MISSING, surroundings: listed() }),
    is: ['create', 'Missing'],
  },
  'one that is gone, and somebody made it again': {
    input: pipe({ recorded: created(), observed: MISSING, surroundings: listed({ candidates: [OTHER] }) }),
    is: ['adopt', 'Adopt'],
  },
  'one that is not found by its id and is in the list is not gone': {
    input: pipe({ recorded: created(), observed: MISSING, surroundings: listed({ hasOwn: true }) }),
    is: ['hold', 'MissingUnconfirmed'],
  },
  'nor is it when a person says so': {
    input: pipe({
      recorded: created(),
      observed: missed(1, MINUTE),
      policy: { recreate: PIPE_ID },
      surroundings: listed({ hasOwn: true }),
    }),
    is: ['hold', 'MissingUnconfirmed'],
  },
}

test.each(Object.entries(ROWS))('%s', (_why, { input, is }) => {
  const { type, reason } = decide(input)
  expect([type, reason]).toEqual(is)
})
