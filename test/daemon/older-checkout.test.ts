import { expect, test } from 'vitest'
import { NotLeading } from '../../src/contract/leadership.ts'
import { createLeaderState, createOlderCheckout } from '../../src/daemon/leader-state.ts'
import { CLOCK, ignore } from '../ledger/samples.ts'

/** A process that has read these, in this order, when it takes over. */
function takeOver(before: string | undefined, ...revisions: readonly string[]) {
  const clock = { now: 0 }
  const checkout = createOlderCheckout({ monotonic: () => clock.now })
  for (const revision of revisions) checkout.noteRead(revision)
  checkout.begin(before)
  return {
    clock,
    read: (revision: string) => checkout.noteRead(revision),
    may: () => attempt(() => checkout.check()),
    checkout,
  }
}

function refusalOf(check: () => void): NotLeading | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof NotLeading) return error
    throw error
  }
}

function attempt(check: () => void): boolean {
  return refusalOf(check) === undefined
}

test('a process with the checkout that was acted on before acts at once; and so does the first one', () => {
  expect(takeOver('r2', 'r2').may()).toBe(true)
  expect(takeOver(undefined, 'r1').may()).toBe(true)
})

test('one that has left that checkout behind acts at once', () => {
  expect(takeOver('r2', 'r1', 'r2', 'r3').may()).toBe(true)
})

test('one with another checkout waits for that one', () => {
  const { read, may } = takeOver('r2', 'r1')
  expect(may()).toBe(false)
  read('r2')
  expect(may()).toBe(true)
  read('r1')
  expect(may()).toBe(true)
})

test('or for one that comes later', () => {
  const { read, may } = takeOver('r2', 'r1')
  read('r1')
  expect(may()).toBe(false)
  read('r3')
  expect(may()).toBe(true)
})

test('one that has read nothing yet waits for what it reads first, too', () => {
  const { read, may } = takeOver('r2')
  expect(may()).toBe(false)
  read('r1')
  expect(may()).toBe(false)
  read('r3')
  expect(may()).toBe(true)
})

/** A process that stands by beside another one: `reads` is of this one, `acts on` is of the other one. */
function standBy(...happens: readonly (readonly ['reads' | 'acts on', string])[]): boolean {
  const checkout = createOlderCheckout({ monotonic: () => 0 })
  let before: string | undefined
  for (const [what, revision] of happens) {
    if (what === 'reads') checkout.noteRead(revision)
    else {
      before = revision
      checkout.noteLeader(revision)
    }
  }
  checkout.begin(before)
  return attempt(() => checkout.check())
}

/** Both come to a revision, the one that acts before the other one, or after it. */
const both = (revision: string) =>
  [
    ['acts on', revision],
    ['reads', revision],
  ] as const
const first = (revision: string) => both(revision).toReversed()

test('one that had that checkout once, before both had another one, has not left it behind: contents recur', () => {
  expect(standBy(...both('c1'), ...both('c2'), ...both('c1'), ['acts on', 'c2'])).toBe(false)
  expect(standBy(...first('c1'), ...first('c2'), ...first('c1'), ['acts on', 'c2'])).toBe(false)
  expect(standBy(...both('c1'), ...both('c2'), ...both('c1'), ...both('c2'))).toBe(true)
})

test('one that is ahead of the process that acted has left that behind', () => {
  expect(standBy(['acts on', 'r1'], ['reads', 'r1'], ['reads', 'r2'])).toBe(true)
  expect(
    standBy(['reads', 'r1'], ['acts on', 'r1'], ['reads', 'r2'], ['reads', 'r3'], ['acts on', 'r2']),
  ).toBe(true)
})

test('one that is where the process that acted was before, and has left, waits: that may have come back on purpose', () => {
  const story = [...both('r1'), ['acts on', 'r2'], ['acts on', 'r1'], ['reads', 'r2']] as const
  expect(standBy(...story)).toBe(false)
  expect(standBy(...story, ['reads', 'r1'])).toBe(true)
  expect(standBy(...story, ['reads', 'r3'])).toBe(true)
})

test('or for five minutes', () => {
  const { clock, may, checkout } = takeOver('r2', 'r1')
  clock.now = 60_000
  expect(refusalOf(() => checkout.check())?.retryAfterMs).toBe(4 * 60_000)
  clock.now = 5 * 60_000 - 1
  expect(may()).toBe(false)
  clock.now += 1
  expect(may()).toBe(true)
})

test('after five minutes it acts, and no resource counts as removed until it has read another revision', () => {
  const { clock, read, may, checkout } = takeOver('r2', 'r1')
  expect(checkout.olderThan).toBe('r2')
  clock.now = 60 * 60_000
  expect(may()).toBe(true)
  expect(checkout.olderThan).toBe('r2')
  read('r1')
  expect(checkout.olderThan).toBe('r2')
  read('r3')
  expect(checkout.olderThan).toBeUndefined()
})

test('or until a person takes the manifests as they are', () => {
  const { may, checkout } = takeOver('r2', 'r1')
  checkout.trust()
  expect(checkout.olderThan).toBeUndefined()
  expect(may()).toBe(true)
})

test('whoever takes over from one that acted all the same is told both revisions, and has to know both', () => {
  const { checkout } = takeOver('r2', 'r1')
  const told = checkout.actedOn('r1')
  expect(takeOver(told, 'r1').checkout.olderThan).toBe(told)
  expect(takeOver(told, 'r2').checkout.olderThan).toBe(told)
  expect(takeOver(told, 'r1', 'r2').checkout.olderThan).toBeUndefined()
  expect(takeOver(told, 'r1').checkout.actedOn('r1')).toBe(told)
})

test('one that is trusted tells its own', () => {
  expect(takeOver('r2', 'r2').checkout.actedOn('r2')).toBe('r2')
})

test('a leader that was cut off counts as one until its Lease ends, whenever a renewal fails', () => {
  let now = 0
  const leading = createLeaderState({
    clock: { ...CLOCK, monotonic: () => now },
    revision: () => 'r1',
    actOn: ignore,
  })
  const over = new AbortController().signal
  const term = { epoch: 1, lateForMs: undefined, revisionBefore: undefined, over, endsAt: () => 15_000 }
  leading.begin({ ...term, confirm: async () => 15_000, release: async () => undefined })
  now = 6_000
  leading.observe({ type: 'LeaseRenewed', result: 'failed', message: 'no reply' })
  now = 14_999
  expect(leading.isActing).toBe(true)
  now = 15_000
  expect(leading.isActing).toBe(false)
})
