import * as fc from 'fast-check'
import { command, CREATE_FAILURES, hide, line, onLine, person } from './acts.ts'
import type { Command } from './commands.ts'

/* Stories that single commands, by chance, would seldom tell to their end. */

/** Pipes that everybody has seen are lost out of sight for as long as it takes to believe it, and come back one by one. */
export const outage: fc.Arbitrary<readonly Command[]> = fc
  .record({
    first: hide,
    before: fc.constantFrom(1, 2, 3),
    second: fc.option(hide, { nil: undefined }),
    during: fc.constantFrom(1, 2, 4),
    over: fc.constantFrom('pipe' as const, 'service' as const, 'all' as const, undefined),
    last: command,
  })
  .map(({ first, before, second, during, over, last }) => [
    { type: 'advance', ms: 61_000 },
    pass(1_000, 1),
    first,
    pass(35_000, before),
    ...(second === undefined ? [] : [second]),
    pass(35_000, during),
    last,
    { type: 'show', who: over },
    pass(1_000, 2),
  ])

/** A pipe and the right to create it are lost; both are there again while the create that would replace it waits. */
export const lateReturn: fc.Arbitrary<readonly Command[]> = fc
  .record({
    lost: line,
    creates: fc.constantFrom('AuthFailed' as const, 'Throttled' as const, 'Rejected' as const),
    before: fc.constantFrom(1, 2, 2, 2, 3),
    ms: fc.constantFrom(1_000, 45_000, 45_000),
    last: fc.option(command, { nil: undefined, freq: 1 }),
  })
  .map(({ lost, creates, before, ms, last }) => [
    { type: 'advance', ms: 61_000 },
    pass(1_000, 1),
    { type: 'hide', line: lost, who: 'pipe', how: 'missing', creates },
    pass(35_000, before),
    ...(last === undefined ? [] : [last]),
    { type: 'waiting', line: lost, ms, meanwhile: [{ type: 'show', who: undefined }] },
    pass(1_000, 1),
  ])

/** A pipe goes, is replaced, and goes again. */
export const deletion: fc.Arbitrary<readonly Command[]> = fc
  .record({
    line,
    says: fc.constantFrom('recreate' as const, 'recreate' as const, 'report' as const),
    last: command,
    again: fc.boolean(),
    unless: fc.option(command, { nil: undefined }),
  })
  .map(({ line: gone, says, last, again, unless }) => [
    { type: 'advance', ms: 61_000 },
    pass(1_000, 1),
    ...(unless === undefined ? [] : [unless]),
    { type: 'on-missing', line: gone, says },
    { type: 'vanish', lines: [gone] },
    pass(35_000, 4),
    last,
    { type: 'advance', ms: 61_000 },
    pass(1_000, 1),
    ...(again ? [{ type: 'vanish' as const, lines: [gone] }] : []),
    pass(35_000, 4),
  ])

/** A create of which nobody knows, and what a person makes of it: too early, and again. */
export const doubt: fc.Arbitrary<readonly Command[]> = fc
  .record({
    line,
    reply: fc.constantFrom(
      ...CREATE_FAILURES.filter((script) => 'effect' in script && script.effect === 'unknown'),
    ),
    isRenamed: fc.boolean(),
    first: person,
    last: command,
    ms: fc.constantFrom(1_000, 61_000, 150_000, 1_000_000),
    by: fc.constantFrom('policy' as const, 'shell' as const, 'force' as const),
  })
  .map(({ line: doubted, reply, isRenamed, first, last, ms, by }) => [
    { type: 'replies', operation: 'create', replies: [reply] },
    { type: 'fresh', line: doubted },
    ...(isRenamed ? [{ type: 'rename' as const, line: doubted, to: 1 }] : []),
    onLine(first, doubted),
    onLine(last, doubted),
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
