import { judgeSeen } from '../../support/oracle.ts'
import { type Combination, isBetween, isReached, REPLIES } from './combination.ts'

/** How a create has to end, once everything is quiet. */
export type Fate =
  /** One pipe, and its id is recorded: by this process, or by the next one's new attempt. */
  | 'recorded'
  /** `OutcomeUnknown`, whether there is a pipe or not; nobody sends anything more. */
  | 'unknown'

/**
 * What must become of a create, by what can be known and no more. Unknown is exactly: some of the request was handed to
 * a connected socket and no clear word came back; or a process ended, or could write no more, between the intent and
 * the outcome, so that nobody is left who knows.
 */
export function fateOf(combination: Combination): Fate {
  const { at, action, reply } = combination
  const { tells } = REPLIES[reply]
  const byReply: Fate = tells === 'nothing' ? 'unknown' : 'recorded'
  if (!isReached(combination)) return byReply
  switch (action) {
    case 'disk-slow':
      return byReply
    case 'kill':
    case 'disk-full':
      if (at === 'before-intent') return 'recorded'
      // An id that is to be read is on disk before it is read.
      if (at === 'before-id' && tells === 'the id, to be read') return 'recorded'
      return isBetween(at, 'after-intent', 'before-id') ? 'unknown' : byReply
    case 'throw':
      // The process lives on, and knows that no request was sent.
      if (isBetween(at, 'before-intent', 'after-intent')) return 'recorded'
      if (isBetween(at, 'after-fence', 'after-connect')) return byReply // of the next attempt
      return byReply
  }
}

/** Whether the platform did the work of the attempt that the fate is about. */
export function hasWorked(combination: Combination): boolean {
  const { at, action, reply } = combination
  if (fateOf(combination) === 'recorded') return true
  const sent =
    !isReached(combination) ||
    action === 'disk-slow' ||
    (action === 'disk-full' && at !== 'before-intent') ||
    (action === 'throw' && isBetween(at, 'after-fence', 'after-connect')) ||
    at === 'before-id'
  return sent && REPLIES[reply].worked === 'done'
}

/** What was counted of one key after everything was quiet. */
export interface Counts {
  /** Ids of its pipes on the platform. */
  readonly pipes: readonly string[]
  /** Requests to create it, and those of them that did work. */
  readonly posts: number
  readonly worked: number
  /** Requests that came after the process had started anew. */
  readonly postsAfterRestart: number
  /** The id in the ledger. */
  readonly recorded: string | undefined
  /** The intent in the ledger. */
  readonly intentId: string | undefined
  /** What the user is told: the status, and its message. */
  readonly status: string
  readonly message: string
}

/** What a run of the real program came to. */
export interface Facts {
  /** Whether the process said that the failpoint was reached. */
  readonly reached: boolean
  /** How the process with the failpoint ended. */
  readonly ended: number | NodeJS.Signals
  /** How the process after it ended, which was told to stop when all was quiet. */
  readonly endedAfterwards: number | NodeJS.Signals
  /** The pipe that the failpoint and the fault befell. */
  readonly victim: Counts
  /** A pipe that was created before, by the same process, and must not notice. */
  readonly neighbour: Counts
  /** Requests to create anything during a further pass over everything. */
  readonly postsOnceQuiet: number
}

/** The laws, over one run: what is broken, in words; nothing, when all hold. */
export function broken(combination: Combination, facts: Facts): readonly string[] {
  const { victim, neighbour } = facts
  const faults: string[] = []
  const expectThat = (holds: boolean, words: string) => {
    if (!holds) faults.push(words)
  }
  for (const [who, counts] of Object.entries({ victim, neighbour })) {
    const { pipes, worked, recorded, status } = counts
    const isUnknown = status === 'OutcomeUnknown'
    faults.push(
      ...judgeSeen({ name: who, pipes, known: [recorded], recorded, isUnknown }).map(({ what }) => what),
    )
    expectThat(worked <= 1, `law 1: ${worked} creates of the ${who} did work`)
  }
  expectThat(facts.postsOnceQuiet === 0, `law 8: ${facts.postsOnceQuiet} creates when all was quiet`)
  expectThat(
    facts.reached === isReached(combination),
    `the failpoint was ${facts.reached ? '' : 'not '}reached`,
  )
  const killed = combination.action === 'kill' && isReached(combination)
  expectThat(
    !killed || facts.ended === 'SIGKILL',
    `the process was not killed, but ended with ${facts.ended}`,
  )
  expectThat(facts.endedAfterwards === 0, `the last process ended with ${facts.endedAfterwards}`)
  faults.push(...brokenFate(combination, victim))
  expectThat(
    neighbour.status === 'Ready' && neighbour.recorded !== undefined && neighbour.posts === 1,
    `law 5: the neighbour is ${neighbour.status} after ${neighbour.posts} creates`,
  )
  return faults
}

function brokenFate(combination: Combination, victim: Counts): readonly string[] {
  const fate = fateOf(combination)
  const pipes = hasWorked(combination) ? 1 : 0
  const there = victim.pipes.length === pipes ? [] : [`there are ${victim.pipes.length} pipes, not ${pipes}`]
  if (fate === 'recorded') {
    if (victim.status === 'Ready' && victim.recorded !== undefined) return there
    return [...there, `it must be Ready with its id, and is ${victim.status}: ${victim.message}`]
  }
  const wordsOut = [
    'policy.adopt: PIPE_ID',
    `policy.retryCreate: ${victim.intentId}`,
    'pipewright resolve Pipe/',
  ]
  const missing = wordsOut.filter((words) => !victim.message.includes(words))
  return [
    ...there,
    ...(victim.status === 'OutcomeUnknown' ? [] : [`it must be OutcomeUnknown, and is ${victim.status}`]),
    ...(victim.recorded === undefined ? [] : ['an id is recorded though the outcome is unknown']),
    ...(victim.postsAfterRestart === 0 ? [] : ['it was sent again without a word of a person']),
    ...(missing.length === 0 ? [] : [`the message does not say ${missing.join(', ')}: ${victim.message}`]),
  ]
}
