import * as fc from 'fast-check'
import type { ErrorClass } from '../../src/reconcile/remote-error.ts'
import type { WriteScript } from '../reconcile/model-ledger.ts'
import type { Script } from '../reconcile/model-script.ts'
import type { Command } from './commands.ts'
import { LINES } from './commands.ts'

export const line = fc.nat({ max: LINES - 1 })
const process = fc.nat({ max: 1 })

export const CREATE_FAILURES: readonly Script[] = [
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

export const person = fc.oneof(
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
  { weight: 2, arbitrary: fc.record({ type: fc.constant('depends' as const), line, on: line }) },
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

export const hide = fc.record({
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
export function onLine(command: Command, to: number): Command {
  return 'line' in command && to > 0 ? { ...command, line: to } : command
}

export const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: sideBySide },
  { weight: 3, arbitrary: waiting },
  { weight: 5, arbitrary: sight },
  { weight: 6, arbitrary: manifests },
  { weight: 6, arbitrary: trouble },
  { weight: 4, arbitrary: person },
  { weight: 8, arbitrary: time },
)
