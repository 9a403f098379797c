import * as fc from 'fast-check'
import type { WriteScript } from '../reconcile/model-ledger.ts'
import type { Script } from '../reconcile/model-platform.ts'

/** Pipes of a history; each is a line of manifests under changing names. */
export const LINES = 5

/** One thing that happens, as data, so that a failing history can be read and made shorter. */
export type Command =
  | {
      readonly type: 'edit' | 'undo' | 'flaw' | 'break' | 'mend' | 'remove' | 'restore' | 'fresh'
      readonly line: number
    }
  | { readonly type: 'rename' | 'move-file'; readonly line: number; readonly to: number }
  | { readonly type: 'suspend'; readonly line: number; readonly ms: number }
  | { readonly type: 'on-missing'; readonly line: number; readonly says: 'recreate' | 'report' }
  | { readonly type: 'renamed-from' | 'replaces'; readonly line: number }
  | { readonly type: 'depends'; readonly line: number; readonly on: number }
  | { readonly type: 'rotate' | 'unmount' | 'mount' }
  | { readonly type: 'service-flaw' | 'service-mend' }
  | { readonly type: 'crash'; readonly process: number }
  | { readonly type: 'jump' | 'advance'; readonly ms: number }
  | {
      readonly type: 'replies'
      readonly operation: 'admit' | 'create' | 'get' | 'upsert'
      readonly replies: readonly (Script | 'ok')[]
    }
  | { readonly type: 'disk'; readonly process: number; readonly writes: readonly WriteScript[] }
  | { readonly type: 'unreadable'; readonly process: number; readonly reads: number }
  | { readonly type: 'vanish'; readonly lines: readonly number[] }
  | { readonly type: 'change'; readonly line: number }
  /** A person looks at the console and gives the pipe to the key, or another one that somebody made there. */
  | {
      readonly type: 'adopt'
      readonly line: number
      readonly which: 'own' | 'stray'
      readonly by: 'policy' | 'shell'
    }
  | { readonly type: 'approve'; readonly line: number; readonly by: 'policy' | 'shell' }
  | { readonly type: 'forget'; readonly line: number }
  | { readonly type: 'turn'; readonly process: number; readonly line: number }
  /** Two daemons have a turn of the same key at the same time. */
  | { readonly type: 'both'; readonly line: number; readonly hops: number }
  /** All keys have a turn in one daemon at the same time. */
  | { readonly type: 'together'; readonly hops: number }
  /** A create takes its time, and something happens while it is under way. */
  | { readonly type: 'during'; readonly line: number; readonly meanwhile: Command }
  | { readonly type: 'pass'; readonly process: number; readonly ms: number; readonly times: number }

const line = fc.nat({ max: LINES - 1 })
const process = fc.nat({ max: 1 })

const CREATE_FAILURES: readonly Script[] = [
  { type: 'fail', class: 'Rejected', effect: 'none', worked: false },
  { type: 'fail', class: 'AuthFailed', effect: 'none', worked: false },
  { type: 'fail', class: 'Throttled', effect: 'none', worked: false },
  { type: 'fail', class: 'Unavailable', effect: 'none', worked: false },
  { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: false },
  { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: true },
  { type: 'fail', class: 'BadReply', effect: 'unknown', worked: true },
  { type: 'fail', class: 'Redirected', effect: 'unknown', worked: false },
  { type: 'lost', worked: true },
  { type: 'lost', worked: false },
]

const READ_FAILURES: readonly Script[] = [
  { type: 'fail', class: 'Missing', effect: 'none', worked: false },
  { type: 'fail', class: 'AuthFailed', effect: 'none', worked: false },
  { type: 'fail', class: 'Rejected', effect: 'none', worked: false },
  { type: 'fail', class: 'Throttled', effect: 'none', worked: false },
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
    by: fc.constantFrom('policy' as const, 'shell' as const),
  }),
  ofLine('forget', 'renamed-from', 'replaces'),
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
      type: fc.constantFrom('service-flaw' as const, 'service-mend' as const, 'service-mend' as const),
    }),
  },
)

const trouble = fc.oneof(
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
      ms: fc.constantFrom(0, 1_000, 35_000, 35_000, 300_000, 1_200_000),
      times: fc.constantFrom(1, 1, 1, 3),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('advance' as const), ms: fc.constantFrom(1_000, 61_000) }),
  },
)

const meanwhile: fc.Arbitrary<Command> = fc.oneof(manifests, person, time)

const sideBySide: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ type: fc.constant('together' as const), hops: fc.integer({ min: 0, max: 20 }) }),
  // Mostly on the line itself: that is where it matters.
  fc
    .record({ type: fc.constant('during' as const), line, meanwhile })
    .map((during) =>
      'line' in during.meanwhile && during.line > 0
        ? { ...during, meanwhile: { ...during.meanwhile, line: during.line } }
        : during,
    ),
)

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: sideBySide },
  { weight: 6, arbitrary: manifests },
  { weight: 6, arbitrary: trouble },
  { weight: 4, arbitrary: person },
  { weight: 8, arbitrary: time },
)

/** Histories of about thirty commands; half of them know no second daemon. */
export const histories: fc.Arbitrary<readonly Command[]> = fc
  .tuple(fc.boolean(), fc.array(command, { minLength: 1, maxLength: 60, size: 'max' }))
  .map(([isAlone, commands]) => (isAlone ? commands.map(inOne) : commands))

/** The same, without a second daemon. */
function inOne(one: Command): Command {
  if (one.type === 'both') return { type: 'turn', process: 0, line: one.line }
  if (one.type === 'during') return { ...one, meanwhile: inOne(one.meanwhile) }
  return 'process' in one ? { ...one, process: 0 } : one
}
