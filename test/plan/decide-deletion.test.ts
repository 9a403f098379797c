import { expect, test } from 'vitest'
import { decide } from '../../src/plan/decide.ts'
import type { CreateOnceInput, DeletionFacts } from '../../src/plan/input.ts'
import type { Removal } from '../../src/plan/recorded-change.ts'
import { created, FOUND, HOUR, MINUTE, missed, MISSING, NOW, pipe } from './inputs.ts'

/* A pipe whose manifest is gone for good and said policy.onRemove "delete": each row of the table of `decide-deletion.ts`. */

const FACTS: DeletionFacts = {
  doubt: undefined,
  isReachable: true,
  claimant: undefined,
  unread: [],
  limit: undefined,
  isAllowed: false,
  staysBehind: undefined,
}
const LONG_AGO = { since: NOW - 11 * MINUTE }
const LIMIT = { service: 'analytics', wanted: 2, of: 5, limit: 1 }

interface Row {
  readonly why: string
  readonly facts?: Partial<DeletionFacts>
  readonly removal?: Removal
  readonly observed?: CreateOnceInput['observed']
  readonly origin?: 'created' | 'adopted'
  readonly changedSince?: readonly string[] | undefined
  readonly mayBeThere?: true
  readonly is: readonly [type: string, what: string]
}

const ROWS: readonly Row[] = [
  { why: 'ten minutes later, as it was left', is: ['delete', 'now'] },
  { why: 'before that', removal: { since: NOW - 9 * MINUTE }, is: ['hold', 'later'] },
  {
    why: 'what was to be replaced has a while of its own once its manifest is gone',
    removal: { ...LONG_AGO, digest: 'another' },
    is: ['hold', 'later'],
  },
  { why: 'a reading is not accepted', facts: { doubt: 'doubted' }, is: ['hold', 'doubted'] },
  { why: 'it was adopted', origin: 'adopted', is: ['report', 'not ours'] },
  { why: 'another manifest may ask for it', facts: { claimant: 'Pipe/new' }, is: ['report', 'claimed'] },
  { why: 'a file cannot be read', facts: { unread: ['a.yaml'] }, is: ['report', 'unread'] },
  { why: 'no service leads there', facts: { isReachable: false }, is: ['report', 'unreachable'] },
  { why: 'somebody changed it', changedSince: ['name'], is: ['report', 'changed'] },
  { why: 'it was not seen in sync', changedSince: undefined, is: ['report', 'never in sync'] },
  { why: 'too many', facts: { limit: LIMIT }, is: ['refuse', 'DeleteLimit'] },
  {
    why: 'a request was sent a moment ago',
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE },
    is: ['hold', 'going'],
  },
  {
    why: 'what was sent is waited for, whatever came since',
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE },
    facts: { doubt: 'doubted', limit: LIMIT, claimant: 'Pipe/new' },
    is: ['hold', 'going'],
  },
  {
    why: 'ten minutes after a request it is still there',
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - 10 * MINUTE },
    is: ['delete', 'now'],
  },
  {
    why: 'a clock was set back since: the request is of now at the latest',
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW + HOUR },
    is: ['hold', 'going'],
  },
  {
    why: 'a 404 after an answer',
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE, isAnswered: true },
    observed: MISSING,
    is: ['delete', 'done'],
  },
  {
    why: 'a 404 after a request that nobody answered',
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE + 1 },
    observed: missed(1, 0),
    is: ['hold', 'going'],
  },
  {
    why: 'the same, and the list shows it',
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE, isAnswered: true },
    observed: MISSING,
    mayBeThere: true,
    is: ['hold', 'going'],
  },
  {
    why: 'the same, and nobody answered the request',
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - 2 * MINUTE },
    observed: MISSING,
    mayBeThere: true,
    is: ['hold', 'going'],
  },
  {
    why: 'a 404 more than a minute after a request that nobody answered',
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - 2 * MINUTE },
    observed: missed(1, 0),
    is: ['delete', 'going'],
  },
  {
    why: 'the same, and the request was for what was to be replaced',
    removal: { ...LONG_AGO, digest: 'another', isSent: true, sentAt: NOW - 2 * MINUTE },
    observed: missed(1, 0),
    is: ['hold', 'going'],
  },
  {
    why: 'the same, and another manifest may ask for it',
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - 2 * MINUTE },
    facts: { claimant: 'Pipe/new' },
    observed: missed(1, 0),
    is: ['hold', 'going'],
  },
  { why: 'a 404 without a request', observed: missed(1, 0), is: ['hold', 'not found'] },
  { why: 'it is gone for sure', observed: MISSING, is: ['delete', 'gone already'] },
  { why: 'the list shows it', observed: MISSING, mayBeThere: true, is: ['hold', 'not found'] },
]

test.each(ROWS)('$why', (row) => {
  const { facts, removal = LONG_AGO, observed = FOUND, origin = 'created', is } = row
  const record = created()
  if (record.remote === undefined) throw new Error('there is none')
  const action = decide({
    ...pipe({
      desired: { state: 'absent', fingerprint: undefined },
      recorded: { ...record, remote: { ...record.remote, origin }, onRemove: 'delete', removal },
      observed,
    }),
    lifecycle: 'create-once',
    removal: { ...FACTS, ...facts },
    mayBeThere: row.mayBeThere,
    changedSince: 'changedSince' in row ? row.changedSince : [],
  })
  const said = action.reason === 'Orphaned' ? action.facts?.removal?.is : action.reason
  expect([action.type, said]).toEqual(is)
})
