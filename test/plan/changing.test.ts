import { expect, test } from 'vitest'
import type { Changes } from '../../src/kinds/changes.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Action } from '../../src/plan/action.ts'
import {
  interruptedFields,
  keptBefore,
  notShownYet,
  refusedBefore,
  stalledFields,
  stoppedInVain,
  waitsForRest,
} from '../../src/plan/change-waits.ts'
import { decide } from '../../src/plan/decide.ts'
import { contestOf, failedStart, withCorrections, withoutCorrections } from '../../src/plan/corrections.ts'
import { deletionTarget, graceSince, markAfter } from '../../src/plan/deletion-mark.ts'
import { attemptDigest } from '../../src/plan/gates.ts'
import type { CreateOnceInput } from '../../src/plan/input.ts'
import { isOfNew, withSizeSeen } from '../../src/plan/new-size.ts'
import { unknownFacts } from '../../src/plan/outcome-unknown.ts'
import type { Change, Correction, LedgerRecord, Removal } from '../../src/plan/record.ts'
import * as rest from '../../src/plan/run-state.ts'
import {
  because,
  created,
  FIELDS,
  FOUND,
  HOUR,
  intent,
  MINUTE,
  MISSING,
  NOW,
  pipe,
  PIPE_ID,
  recordedPipe,
} from './inputs.ts'

/* The waits of a change, of a correction, of a start or stop, and of a deletion, at their edges. */

const STATES = {
  healthy: ['Running'],
  moving: [],
  unhealthy: [],
  atRest: ['Stopped'],
  stopping: ['Stopping'],
  failed: ['Failed'],
  loading: ['Snapshot'],
  done: ['Completed'],
}

interface Given {
  readonly state?: string
  readonly paused?: boolean
  readonly isAsked?: boolean
  readonly record?: Partial<LedgerRecord> | undefined
}

function inputOf({ state, paused, isAsked, record }: Given): CreateOnceInput {
  return {
    ...pipe({
      policy: { paused },
      recorded: created(record),
      observed: { status: 'found', state, differences: [{ field: 'size', desired: '2', observed: '1' }] },
    }),
    knownStates: STATES,
    isAsked,
  }
}

type Command = NonNullable<LedgerRecord['command']>

function commanded(
  command: Command['command'],
  ago: number,
  sinceAgo = ago,
  isForChange?: true,
): Given['record'] {
  return { command: { command, at: NOW - ago, since: NOW - sinceAgo, isForChange } }
}

function started(count: number, ago: number): Given['record'] {
  return { corrections: { start: { count, at: NOW - ago } } }
}

const [PAUSED, STARTED] = [{ paused: true }, { paused: false }]

test.for<[Given, string | undefined]>([
  [{ ...PAUSED }, undefined],
  [{ ...PAUSED, state: 'Running' }, 'stop, paused: to be sent stop'],
  [{ ...PAUSED, state: 'Stopped' }, undefined],
  [{ ...PAUSED, state: 'Completed' }, undefined],
  [{ ...PAUSED, state: 'Running', record: commanded('start', 0) }, 'stop, paused: to be sent stop'],
  [{ ...PAUSED, state: 'Running', record: commanded('stop', MINUTE - 1) }, 'stop, paused: waited for '],
  [{ ...PAUSED, state: 'Running', record: commanded('stop', MINUTE) }, 'stop, paused: to be sent '],
  [
    { ...PAUSED, state: 'Running', record: commanded('stop', 2 * MINUTE, 5 * MINUTE) },
    'stop, paused: waited for ',
  ],
  [{ ...PAUSED, state: 'Running', record: commanded('stop', 10 * MINUTE - 1) }, 'stop, paused: to be sent '],
  [{ ...PAUSED, state: 'Running', record: commanded('stop', 10 * MINUTE) }, 'stop, paused: unheeded '],
  [
    { ...PAUSED, state: 'Running', record: commanded('stop', 10 * MINUTE), isAsked: true },
    'stop, paused: to be sent ',
  ],
  [{ ...PAUSED, state: 'Running', record: commanded('stop', HOUR - 1) }, 'stop, paused: unheeded '],
  [{ ...PAUSED, state: 'Running', record: commanded('stop', HOUR) }, 'stop, paused: to be sent '],
  [{ ...PAUSED, state: 'Stopping' }, undefined],
  [{ ...PAUSED, state: 'Stopping', record: commanded('stop', 2 * MINUTE) }, undefined],
  [{ ...PAUSED, state: 'Stopping', record: commanded('stop', HOUR) }, 'stop, paused: to be sent '],
  [{ ...STARTED, state: 'Stopping' }, undefined],
  [{ ...STARTED, state: 'Stopping', record: commanded('stop', HOUR) }, 'stop, started: unheeded '],
  [{ ...STARTED, state: 'Running' }, undefined],
  [{ ...STARTED, state: 'Stopped' }, 'start, started: to be sent start'],
  [{ ...STARTED, state: 'Stopped', record: commanded('start', 2 * MINUTE) }, 'start, started: to be sent '],
  [{ ...STARTED, state: 'Failed' }, 'start, started: to be sent start'],
  [{ ...STARTED, state: 'Failed', record: started(1, MINUTE - 1) }, undefined],
  [{ ...STARTED, state: 'Failed', record: started(1, MINUTE) }, 'start, started: to be sent start'],
  [{ ...STARTED, state: 'Failed', record: started(3, 4 * MINUTE - 1) }, undefined],
  [{ ...STARTED, state: 'Failed', record: started(6, 32 * MINUTE) }, 'start, started: to be sent start'],
  [{ ...STARTED, state: 'Failed', record: started(7, 99 * HOUR) }, 'start, started: given up start'],
  [{ state: 'Stopped' }, undefined],
  [{ state: 'Stopped', record: commanded('stop', HOUR, HOUR, true) }, 'start, started again: to be sent '],
  [{ state: 'Failed', record: commanded('stop', HOUR, HOUR, true) }, undefined],
  [{ ...PAUSED, state: 'Running', record: commanded('stop', 0, 0, true) }, 'stop, paused: waited for '],
])('the next step of %j is %j', ([given, is]) => {
  const step = rest.runStateStep(inputOf(given))
  expect(step && `${step.command}, ${step.why}: ${step.fate} ${step.corrects.join()}`).toBe(is)
})

test('a kind has states of its own, for a manifest that cannot be read; without any, no step is known', () => {
  const input = { ...inputOf({ ...PAUSED, state: 'Running' }), knownStates: undefined }
  expect(rest.runStateStep(input)).toBeUndefined()
  const changes = { rest: STATES } as unknown as Changes // the rest is not asked for
  expect(rest.runStateStep({ ...input, kind: { ...input.kind, changes } })).toMatchObject({ command: 'stop' })
})

test('whether it stops, runs or loads is in its state, and in a stop of the last minute', () => {
  const all = ['Running', 'Stopped', 'Stopping', 'Snapshot', 'Failed', undefined]
  const having = (is: (input: CreateOnceInput) => boolean, given: Given = {}) =>
    all.filter((state) => is(inputOf({ ...given, ...(state !== undefined && { state }) })))
  const isStill = ['Running', 'Snapshot', 'Failed']
  expect(having(rest.isStopping)).toEqual(['Stopping'])
  expect(having(rest.isStopping, { record: commanded('stop', MINUTE) })).toEqual(['Stopping'])
  expect(having(rest.isStopping, { record: commanded('start', 0) })).toEqual(['Stopping'])
  const justNow = { record: commanded('stop', MINUTE - 1) }
  expect(having(rest.isStopping, justNow)).toEqual(['Running', 'Stopping', 'Snapshot', 'Failed'])
  expect(having(rest.isRunning)).toEqual(isStill)
  expect(having(rest.isRunning, justNow)).toEqual(isStill)
  expect(having(rest.isSeenToRun)).toEqual([...isStill, undefined])
  expect(having(rest.isSeenToRun, justNow)).toEqual([undefined])
  expect(rest.isSeenToRun(pipe({ observed: MISSING }))).toBe(false)
  expect(having(rest.isFailed)).toEqual(['Failed'])
  expect(having(rest.isLoading)).toEqual(['Snapshot'])
  expect(having(rest.isLoading, STARTED)).toEqual(['Snapshot'])
  for (const given of [PAUSED, { isAsked: true }, { record: commanded('stop', 0, 0, true) }])
    expect(having(rest.isLoading, given)).toEqual([])
})

test.for<[Given['record'], string | undefined]>([
  [{}, undefined],
  [commanded('stop', 0, 10 * MINUTE - 1), undefined],
  [commanded('stop', 0, 10 * MINUTE), 'paused'],
  [commanded('stop', 0, 10 * MINUTE, true), 'change'],
  [commanded('start', 0, 10 * MINUTE), 'started'],
  [commanded('start', 0, 10 * MINUTE, true), 'started again'],
  [{ command: { command: 'stop', at: NOW - 10 * MINUTE } }, 'paused'],
])('of the command of %j this is told after ten minutes: %j', ([record = {}, why]) => {
  const told = rest.unheeded(inputOf({ state: 'Running', record }))?.facts.command
  expect(told).toEqual(why === undefined ? undefined : { why, state: 'Running' })
})

function corrected(count: number, ago: number, apart?: number): Correction {
  return { count, at: NOW - ago, ...(apart !== undefined && { before: NOW - ago - apart }) }
}

test.for<[Correction, number | undefined]>([
  [corrected(1, 0), undefined],
  [corrected(2, 0, HOUR), undefined],
  [corrected(2, 0, HOUR - 1), HOUR],
  [corrected(2, 0), HOUR],
  [corrected(2, HOUR - 1, 0), HOUR],
  [corrected(2, HOUR, 0), undefined],
  [corrected(3, 2 * HOUR - 1, 24 * HOUR), 2 * HOUR],
  [corrected(3, 2 * HOUR), undefined],
  [corrected(9, 24 * HOUR - 1), 24 * HOUR],
  [corrected(9, 24 * HOUR), undefined],
])('a correction after %j waits %j', ([last, waitMs]) => {
  const input = inputOf({ record: { corrections: { size: last, start: corrected(2, HOUR) } } })
  const contest = waitMs === undefined ? undefined : { fields: ['size'], times: last.count, waitMs }
  expect(contestOf(input, ['other', 'start', 'size'])).toEqual(contest)
  expect(contestOf({ ...input, isAsked: true }, ['size'])).toBeUndefined()
})

test('a suspended pipe is started only after a stop for a change', () => {
  const suspend = { reason: 'move', until: '2999-01-01T00:00:00Z' }
  const inputs = [undefined, commanded('stop', MINUTE, MINUTE, true)].map((record) =>
    inputOf({ ...STARTED, state: 'Stopped', record }),
  )
  const decided = inputs.map((input) => decide({ ...input, policy: { ...input.policy, suspend } }).type)
  expect(decided).toEqual(['hold', 'update'])
})

test('a person who asks ends the waits of failed starts', () => {
  expect(failedStart(inputOf({ record: started(7, 0) }))).toBe('given up')
  expect(failedStart(inputOf({ record: started(7, 0), isAsked: true }))).toBe('now')
})

test.for<[Correction | undefined, number | undefined, number]>([
  [undefined, undefined, 1],
  [corrected(1, HOUR - 1), undefined, 2],
  [corrected(1, HOUR), undefined, 1],
  [corrected(2, 2 * HOUR - 1), undefined, 3],
  [corrected(2, 2 * HOUR), undefined, 1],
  [corrected(1, 2 * HOUR), 2 * HOUR + 1, 2],
  [corrected(1, 2 * HOUR), 2 * HOUR, 1],
])('after %j, within %j ms, a correction is number %i', ([last, inRowMs, count]) => {
  const others = { kept: corrected(3, 4 * HOUR - 1), over: corrected(3, 4 * HOUR) }
  const input = inputOf({ record: { corrections: { ...others, ...(last && { size: last }) } } })
  const size = { count, at: NOW, ...(count > 1 && { before: last?.at }) }
  expect(withCorrections(input, ['size'], inRowMs)).toEqual({ kept: others.kept, size })
  expect(withCorrections({ ...input, isAsked: true }, ['size'], inRowMs)?.['size']).toEqual({
    count: 1,
    at: NOW,
  })
})

test('corrections of fields that are settled are forgotten', () => {
  const [a, b] = [corrected(1, 0), corrected(2, 0)]
  expect(withoutCorrections(created({ corrections: { a, b } }), ['a'])).toEqual({ b })
  expect(withoutCorrections(created({ corrections: { a, b } }), ['a', 'b'])).toBeUndefined()
  expect(withoutCorrections(created(), ['a'])).toBeUndefined()
})

test('of many pipes that an unknown create is not, five are named, the former one first', () => {
  const former = { remote: recordedPipe('z'), at: NOW } as LedgerRecord['former'] // the rest is not told
  const ids = [created(), created({ former })].map((record) =>
    unknownFacts(record, intent('unknown'), ['a', 'b', 'c', 'd', 'e', 'f']).olderIds.join(''),
  )
  expect(ids).toEqual(['abcde', 'zabcd'])
})

test('the digest of an attempt names its secrets in one order', () => {
  expect(attemptDigest({ digest: 'd', secrets: { b: '2', a: '1' } })).toBe('d\na=1\nb=2')
})

const DIGEST = attemptDigest(FIELDS)
const WAYS: Partial<Changes> = {
  isSlow: (field) => field === 'size',
  replacesWhole: true,
  wayOf: (field) => (field === 'size' ? 'scale' : 'update'),
}
const CHANGES = WAYS as Changes // the rest is not asked for

function sent(ago: number, change: Partial<Change> = {}): Change {
  return { digest: DIGEST, at: NOW - ago, fields: ['size'], isSent: true, ...change }
}

function comparedWith(desired: JsonObject, observed: JsonObject) {
  return { changes: CHANGES, compared: { desired, observed } }
}

const HIDDEN = comparedWith({ size: 2, name: 'x' }, {})
const EARLIER = [undefined, sent(0, { isSent: undefined }), sent(0, { digest: 'another' })]

function wait(change?: Change, drifted: readonly string[] = [], about = HIDDEN): Action | undefined {
  return notShownYet(inputOf({ record: { change } }), drifted, about)
}

test('a size that was sent is waited for up to ten minutes, while nothing differs', () => {
  expect(wait(sent(10 * MINUTE - 1, { fields: ['size', 'name'] }))).toEqual({
    type: 'observe',
    reason: 'Changing',
    facts: { why: 'edited', fields: ['size'], by: [], is: 'not seen yet' },
  })
  const others = [
    ...[...EARLIER, sent(10 * MINUTE), sent(0, { fields: ['name'] })].map((change) => wait(change)),
    wait(sent(0), ['other']),
    wait(sent(0), [], comparedWith({ size: 2 }, { size: 2 })),
    wait(sent(0), [], comparedWith({}, {})),
  ]
  expect(others).toEqual(others.map(() => undefined))
})

test('a field that the service keeps is not taken away again for the same manifest', () => {
  const about = comparedWith({}, { size: 1, other: 1 })
  const kept = (change?: Change, more: Given = {}, at = about) =>
    keptBefore(inputOf({ ...more, record: { change } }), ['size', 'other'], at)
  expect(kept(sent(99 * HOUR))).toEqual(['size'])
  const { replacesWhole: _, ...others } = WAYS
  expect([
    ...EARLIER.map((change) => kept(change)),
    kept(sent(0), { isAsked: true }),
    kept(sent(0), {}, comparedWith({ size: 1 }, { size: 1 })),
    kept(sent(0), {}, comparedWith({}, {})),
    kept(sent(0), {}, { ...about, changes: others as Changes }),
  ]).toEqual(Array.from({ length: 7 }, () => []))
})

type Row = [string, Change | undefined, readonly string[], string | undefined]

test.for<Row>([
  ['a slow field, for ten minutes', sent(10 * MINUTE - 1), ['size'], 'Changing'],
  ['a slow field, after that', sent(10 * MINUTE), ['size'], 'Stalled'],
  ['another field', sent(0, { fields: ['size', 'name'] }), ['size', 'name'], 'Stalled'],
  ['any, for an hour', sent(HOUR - 1), ['size'], 'Stalled'],
  ['any, after that', sent(HOUR), ['size'], undefined],
  ['a field that was not sent', sent(0), ['size', 'name'], undefined],
  ['nothing', sent(0), [], undefined],
  ...EARLIER.map((change, at): Row => [`earlier ${at}`, change, ['size'], undefined]),
])('without effect: %s', ([, change, drifted, reason]) => {
  const input = inputOf({ record: { change } })
  expect(stalledFields(input, drifted, CHANGES)?.reason).toBe(reason)
  expect(stalledFields({ ...input, isAsked: true }, drifted, CHANGES)).toBeUndefined()
})

const NO = { reason: 'Rejected', facts: { said: 'no' } } as const

test.for<[Partial<Change>, number, number | undefined]>([
  [{ refused: NO }, HOUR - 1, 1],
  [{ refused: NO }, HOUR, undefined],
  [{ refused: NO, refusals: 3 }, 4 * HOUR - 2, 2],
  [{ refused: NO, refusals: 9 }, 24 * HOUR - 3, 3],
  [{ refused: NO, digest: 'another' }, 0, undefined],
  [{}, 0, undefined],
])('a refused change %j, %i ms ago, waits %j ms', ([change, ago, left]) => {
  const input = inputOf({ record: { change: sent(ago, change) } })
  const until = NOW + (left ?? 0)
  const hold = { type: 'hold', reason: 'BackingOff', until, facts: { after: NO, until } }
  expect(refusedBefore(input)).toEqual(left === undefined ? undefined : hold)
  expect(refusedBefore({ ...input, isAsked: true })).toBeUndefined()
})

function vain(record: Given['record']): Action | undefined {
  return stoppedInVain(inputOf({ record }))
}

function waits(change: Change | undefined): boolean {
  return waitsForRest(inputOf({ record: { change } }))
}

test('a stop that changed nothing delays the next one', () => {
  expect(vain({ change: sent(0, { isSent: undefined }) })).toMatchObject({
    until: NOW + HOUR,
    facts: { after: 'stopped' },
  })
  expect(vain({ change: sent(0, { refused: NO }) })).toMatchObject({ facts: { after: NO } })
  expect(vain({ change: sent(0, { waitsForRest: true }) })).toBeUndefined()
  expect(vain({ change: sent(0), ...commanded('stop', 0, 0, true) })).toBeUndefined()
  expect(vain({ change: sent(0), ...commanded('stop', 0) })).toBeDefined()
  expect(vain({})).toBeUndefined()
  const waiting = sent(0, { waitsForRest: true })
  expect([waits(waiting), waits({ ...waiting, digest: 'another' }), ...EARLIER.map(waits)]).toEqual([
    true,
    ...Array.from({ length: 4 }, () => false),
  ])
  expect(
    [sent(0, { isSent: undefined }), sent(0)].map((change) => interruptedFields(created({ change }))),
  ).toEqual([['size'], []])
})

function isNew(remote: Partial<LedgerRecord['remote']>, change?: Change, field = 'size'): boolean {
  const record = { remote: recordedPipe(PIPE_ID, { at: NOW, ...remote }), change }
  return isOfNew(inputOf({ record }), field, HIDDEN)
}

test('the size of a new pipe is corrected for a quarter of an hour, until it is seen or changed', () => {
  expect([isNew({}), isNew({ at: NOW - 15 * MINUTE + 1 })]).toEqual([true, true])
  expect([
    isNew({ at: NOW - 15 * MINUTE }),
    isNew({ at: NOW + 15 * MINUTE }),
    isNew({ origin: 'adopted' }),
    isNew({ isSizeSeen: true }),
    isNew({}, sent(0)),
    isNew({}, undefined, 'name'),
  ]).toEqual(Array.from({ length: 6 }, () => false))
})

test('a size is seen once all of it is shown, and does not differ', () => {
  const fingerprint = { ...FIELDS, fields: { size: '1', name: '2' } }
  const seen = (more: object, there: JsonObject = { size: 2 }) => {
    const recorded = created({ remote: recordedPipe(PIPE_ID, { at: NOW }) })
    const base = pipe({ recorded, observed: FOUND, desired: { fingerprint } })
    const input = { ...base, kind: { ...base.kind, changes: CHANGES }, ...comparedWith({}, there), ...more }
    return withSizeSeen(recorded, input).remote?.isSizeSeen
  }
  const differs = { ...FOUND, differences: [{ field: 'size[a]', desired: '2', observed: '1' }] }
  expect(seen({})).toBe(true)
  expect([
    seen({}, {}),
    seen({ observed: differs }),
    seen({ observed: MISSING }),
    seen({ compared: undefined }),
    seen({ desired: { fingerprint: { ...fingerprint, fields: { name: '2' } } } }),
    seen({ recorded: created() }),
  ]).toEqual(Array.from({ length: 6 }, () => undefined))
})

const MARK: Removal = { since: NOW - HOUR, digest: 'absent', isSent: true, sentAt: NOW - MINUTE }
const ABSENT = { ensure: 'absent' } as const

test.for<[string, Parameters<typeof pipe>[0], Removal, Removal | undefined]>([
  ['asked for still', { policy: ABSENT, observed: FOUND }, MARK, MARK],
  ['asked for no more', { observed: FOUND }, MARK, { ...MARK, digest: '' }],
  ['its manifest is gone', { policy: ABSENT, desired: { state: 'absent' } }, MARK, { ...MARK, digest: '' }],
  ['from a later time', { policy: ABSENT }, { ...MARK, sentAt: NOW + 1 }, { ...MARK, sentAt: NOW }],
  [
    'of an earlier version',
    { policy: ABSENT },
    { ...MARK, sentAt: undefined },
    { ...MARK, sentAt: undefined },
  ],
  [
    'found just before ten minutes',
    { policy: ABSENT, observed: FOUND },
    { ...MARK, sentAt: NOW - 10 * MINUTE + 1 },
    { ...MARK, sentAt: NOW - 10 * MINUTE + 1 },
  ],
  [
    'not found after ten minutes',
    { policy: ABSENT, observed: MISSING },
    { ...MARK, sentAt: NOW - HOUR },
    { ...MARK, sentAt: NOW - HOUR },
  ],
  [
    'found after ten minutes, and asked for no more',
    { observed: FOUND },
    { ...MARK, sentAt: NOW - 10 * MINUTE },
    undefined,
  ],
])('the mark of a deletion that was sent: %s', ([, given, removal, is]) => {
  const record = created({ removal })
  const action = { type: 'observe', ...because('InSync') } as Parameters<typeof markAfter>[1] // of this row
  expect(markAfter(pipe({ ...given, recorded: record }), action, record)).toEqual(is)
})

test('a wish to delete is absence, or another spec that replaces', () => {
  const { desired } = pipe()
  expect(deletionTarget({ policy: ABSENT, desired })).toBe('absent')
  expect(deletionTarget({ policy: { onImmutable: 'replace' }, desired }, { applied: undefined })).toBe(
    FIELDS.digest,
  )
  expect(deletionTarget({ policy: { onImmutable: 'replace' }, desired }, { applied: FIELDS })).toBeUndefined()
  expect(deletionTarget({ policy: {}, desired }, { applied: undefined })).toBeUndefined()
})

test.for<[Partial<Removal>, boolean, number]>([
  [{}, false, NOW - HOUR],
  [{ digest: 'another' }, false, NOW],
  [{ isLimited: true }, false, NOW],
  [{ isLimited: true }, true, NOW - HOUR],
  [{ since: NOW + 1 }, false, NOW],
])('the grace of %j, allowed: %j', ([mark, isAllowed, since]) => {
  expect(graceSince({ ...MARK, ...mark }, 'absent', { steadyNow: NOW, isAllowed })).toBe(since)
  expect(graceSince(undefined, 'absent', { steadyNow: NOW, isAllowed })).toBe(NOW)
})
