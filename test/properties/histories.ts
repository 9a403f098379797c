import * as fc from 'fast-check'
import type { ErrorClass } from '../../src/reconcile/remote-error.ts'
import type { WriteScript } from '../reconcile/model-ledger.ts'
import type { Script } from '../reconcile/model-platform.ts'
import type { Command } from './commands.ts'
import { LINES } from './commands.ts'

const line = fc.nat({ max: LINES - 1 })
const process = fc.nat({ max: 1 })

const CREATE_FAILURES: readonly Script[] = [
  { type: 'fail', class: 'Rejected', effect: 'none', worked: false },
  { type: 'fail', class: 'AuthFailed', effect: 'none', worked: false },
  { type: 'fail', class: 'Throttled', effect: 'none', worked: false },
  { type: 'fail', class: 'Unavailable', effect: 'none', worked: false },
  { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: false },
  { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: true },
  { type: 'fail', class: 'ServiceIdle', effect: 'none', worked: false },
  { type: 'fail', class: 'BadReply', effect: 'unknown', worked: true },
  { type: 'fail', class: 'BadReply', effect: 'unknown', worked: true, showsId: true },
  { type: 'other', change: { id: 'no-id-at-all' } },
  { type: 'other', change: { serviceId: '99999999-2222-4333-8444-555555555555' } },
  { type: 'fail', class: 'Redirected', effect: 'unknown', worked: false },
  { type: 'lost', worked: true },
  { type: 'lost', worked: false },
]

const READ_FAILURES: readonly Script[] = [
  { type: 'fail', class: 'Missing', effect: 'none', worked: false },
  { type: 'fail', class: 'AuthFailed', effect: 'none', worked: false },
  { type: 'fail', class: 'Rejected', effect: 'none', worked: false },
  { type: 'fail', class: 'Throttled', effect: 'none', worked: false },
  { type: 'fail', class: 'ServiceIdle', effect: 'none', worked: false },
  { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: false },
  { type: 'fail', class: 'BadReply', effect: 'unknown', worked: false },
  { type: 'fail', class: 'Redirected', effect: 'unknown', worked: false },
  { type: 'lost', worked: false },
  { type: 'no-credentials' },
]

const ADMIT_FAILURES: readonly Script[] = [
  { type: 'no-credentials' },
  { type: 'fail', class: 'Throttled', effect: 'none', worked: false },
]

function replies(operation: 'admit' | 'create' | 'get' | 'upsert', failures: readonly Script[]) {
  return fc.record({
    type: fc.constant('replies' as const),
    operation: fc.constant(operation),
    replies: fc.array(fc.constantFrom<Script | 'ok'>('ok', ...failures), { minLength: 1, maxLength: 3 }),
  })
}

function ofLine<T extends string>(...types: readonly T[]) {
  return fc.record({ type: fc.constantFrom(...types), line })
}

const person = fc.oneof(
  fc.record({
    type: fc.constant('adopt' as const),
    line,
    which: fc.constantFrom('own' as const, 'own' as const, 'stray' as const),
    by: fc.constantFrom('policy' as const, 'shell' as const),
  }),
  fc.record({
    type: fc.constant('approve' as const),
    line,
    by: fc.constantFrom('policy' as const, 'shell' as const, 'force' as const),
  }),
  fc.record({
    type: fc.constant('recreate' as const),
    line,
    by: fc.constantFrom('policy' as const, 'shell' as const),
  }),
  fc.record({
    type: fc.constant('lock' as const),
    line,
    which: fc.constantFrom('own' as const, 'stray' as const, 'none' as const, 'none' as const),
  }),
  ofLine('forget', 'renamed-from', 'replaces', 'unsay'),
  fc.record({
    type: fc.constant('on-missing' as const),
    line,
    says: fc.constantFrom('recreate' as const, 'report' as const),
  }),
)

const manifests = fc.oneof(
  { weight: 3, arbitrary: ofLine('fresh') },
  { weight: 3, arbitrary: ofLine('remove', 'restore', 'restore') },
  { weight: 3, arbitrary: ofLine('edit', 'undo', 'flaw', 'break', 'mend', 'mend') },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('rename' as const, 'rename' as const, 'move-file' as const),
      line,
      to: fc.nat({ max: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('suspend' as const),
      line,
      ms: fc.constantFrom(1_000, 600_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('depends' as const), line, on: line }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom(
        'service-flaw' as const,
        'service-mend' as const,
        'service-mend' as const,
        'service-move' as const,
        'service-back' as const,
        'service-back' as const,
      ),
    }),
  },
)

const trouble = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom('lock-break' as const, 'lock-mend' as const) }),
  },
  { weight: 8, arbitrary: replies('create', CREATE_FAILURES) },
  { weight: 2, arbitrary: replies('get', READ_FAILURES) },
  { weight: 1, arbitrary: replies('upsert', READ_FAILURES) },
  { weight: 1, arbitrary: replies('admit', ADMIT_FAILURES) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('disk' as const),
      process,
      writes: fc.array(
        fc.constantFrom<WriteScript>('ok', 'ok', 'fails', 'fails-after', 'conflict', 'dies', 'dies-after'),
        { minLength: 1, maxLength: 8 },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('unreadable' as const),
      process,
      reads: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('crash' as const), process }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom('rotate' as const, 'unmount' as const, 'mount' as const) }),
  },
  { weight: 1, arbitrary: ofLine('change') },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('vanish' as const),
      lines: fc.oneof(fc.array(line, { minLength: 1, maxLength: 1 }), fc.uniqueArray(line, { minLength: 3 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('jump' as const), ms: fc.constantFrom(-3_600_000, 3_600_000) }),
  },
)

const hide = fc.record({
  type: fc.constant('hide' as const),
  line,
  who: fc.constantFrom('pipe' as const, 'pipe' as const, 'service' as const, 'all' as const),
  how: fc.constantFrom('missing' as const, 'missing' as const, 'missing' as const, 'gateway' as const),
  creates: fc.constantFrom<ErrorClass | undefined>(
    undefined,
    undefined,
    undefined,
    'AuthFailed',
    'Throttled',
    'Rejected',
  ),
})

/** Permissions and routes that are lost and given back. */
const sight = fc.oneof(
  { weight: 4, arbitrary: hide },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('show' as const),
      who: fc.constantFrom('pipe' as const, 'service' as const, 'all' as const, undefined),
    }),
  },
)

const time = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('turn' as const), process, line }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('both' as const), line, hops: fc.integer({ min: 0, max: 20 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('pass' as const),
      process,
      ms: fc.constantFrom(0, 1_000, 35_000, 35_000, 35_000, 300_000, 1_200_000),
      times: fc.constantFrom(1, 1, 2, 3, 4),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('advance' as const), ms: fc.constantFrom(1_000, 61_000) }),
  },
)

const meanwhile: fc.Arbitrary<Command> = fc.oneof(manifests, person, time, sight)

/** Between the wish for a create and its permit. */
const waiting: fc.Arbitrary<Command> = fc
  .record({
    type: fc.constant('waiting' as const),
    line,
    ms: fc.constantFrom(0, 1_000, 20_000, 45_000),
    meanwhile: fc.array(fc.oneof(manifests, person, sight, ofLine('change')), { minLength: 0, maxLength: 3 }),
  })
  .map((wait) => ({ ...wait, meanwhile: wait.meanwhile.map((one) => onLine(one, wait.line)) }))

const sideBySide: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ type: fc.constant('together' as const), hops: fc.integer({ min: 0, max: 20 }) }),
  fc
    .record({ type: fc.constant('during' as const), line, meanwhile })
    .map((during) => ({ ...during, meanwhile: onLine(during.meanwhile, during.line) })),
)

/** Mostly on the line itself: that is where it matters. */
function onLine(command: Command, to: number): Command {
  return 'line' in command && to > 0 ? { ...command, line: to } : command
}

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: sideBySide },
  { weight: 3, arbitrary: waiting },
  { weight: 5, arbitrary: sight },
  { weight: 6, arbitrary: manifests },
  { weight: 6, arbitrary: trouble },
  { weight: 4, arbitrary: person },
  { weight: 8, arbitrary: time },
)

/** Pipes that everybody has seen are lost out of sight for as long as it takes to believe it, and come back one by one. */
const outage: fc.Arbitrary<readonly Command[]> = fc
  .record({
    first: hide,
    before: fc.constantFrom(1, 2, 3),
    second: fc.option(hide, { nil: undefined }),
    during: fc.constantFrom(1, 2, 4),
    over: fc.constantFrom('pipe' as const, 'service' as const, 'all' as const, undefined),
    then: command,
  })
  .map(({ first, before, second, during, over, then }) => [
    { type: 'advance', ms: 61_000 },
    pass(1_000, 1),
    first,
    pass(35_000, before),
    ...(second === undefined ? [] : [second]),
    pass(35_000, during),
    then,
    { type: 'show', who: over },
    pass(1_000, 2),
  ])

/** A pipe goes, is replaced, and goes again. */
const deletion: fc.Arbitrary<readonly Command[]> = fc
  .record({
    line,
    says: fc.constantFrom('recreate' as const, 'recreate' as const, 'report' as const),
    then: command,
    again: fc.boolean(),
    unless: fc.option(command, { nil: undefined }),
  })
  .map(({ line: gone, says, then, again, unless }) => [
    { type: 'advance', ms: 61_000 },
    pass(1_000, 1),
    ...(unless === undefined ? [] : [unless]),
    { type: 'on-missing', line: gone, says },
    { type: 'vanish', lines: [gone] },
    pass(35_000, 4),
    then,
    { type: 'advance', ms: 61_000 },
    pass(1_000, 1),
    ...(again ? [{ type: 'vanish' as const, lines: [gone] }] : []),
    pass(35_000, 4),
  ])

/** A create of which nobody knows, and what a person makes of it: too early, and again. */
const doubt: fc.Arbitrary<readonly Command[]> = fc
  .record({
    line,
    reply: fc.constantFrom(
      ...CREATE_FAILURES.filter((script) => 'effect' in script && script.effect === 'unknown'),
    ),
    isRenamed: fc.boolean(),
    first: person,
    then: command,
    ms: fc.constantFrom(1_000, 61_000, 150_000, 1_000_000),
    by: fc.constantFrom('policy' as const, 'shell' as const, 'force' as const),
  })
  .map(({ line: doubted, reply, isRenamed, first, then, ms, by }) => [
    { type: 'replies', operation: 'create', replies: [reply] },
    { type: 'fresh', line: doubted },
    ...(isRenamed ? [{ type: 'rename' as const, line: doubted, to: 1 }] : []),
    onLine(first, doubted),
    onLine(then, doubted),
    { type: 'approve', line: doubted, by: 'policy' },
    { type: 'advance', ms },
    pass(1_000, 1),
    { type: 'unsay', line: doubted },
    { type: 'approve', line: doubted, by },
    pass(1_000, 1),
  ])

function pass(ms: number, times: number): Command {
  return { type: 'pass', process: 0, ms, times }
}

const chapter = fc.oneof(
  { weight: 9, arbitrary: fc.array(command, { minLength: 1, maxLength: 15, size: 'max' }) },
  { weight: 4, arbitrary: outage },
  { weight: 2, arbitrary: deletion },
  { weight: 2, arbitrary: doubt },
)

/** Histories of about thirty commands; half of them know no second daemon. */
export const histories: fc.Arbitrary<readonly Command[]> = fc
  .tuple(fc.boolean(), fc.array(chapter, { minLength: 1, maxLength: 4, size: 'max' }))
  .map(([isAlone, chapters]) => (isAlone ? chapters.flat().map(inOne) : chapters.flat()))

/** The same, without a second daemon. */
function inOne(one: Command): Command {
  if (one.type === 'both') return { type: 'turn', process: 0, line: one.line }
  if (one.type === 'waiting') return { ...one, meanwhile: one.meanwhile.map(inOne) }
  if (one.type === 'during') return { ...one, meanwhile: inOne(one.meanwhile) }
  return 'process' in one ? { ...one, process: 0 } : one
}
