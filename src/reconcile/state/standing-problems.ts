import { isToldAnew } from '../../plan/conditions.ts'
import { isWell } from '../../plan/severity.ts'
import type { Reason } from '../../plan/reason.ts'
import { causeOf, isHidden, isOneMatter, isUnseen, shownBehind } from '../../contract/cause.ts'
import type { ProblemFacts } from '../../contract/events.ts'
import { sinceOf, tellingCondition, type ResourceStatus, type StatusBoard } from '../../contract/status.ts'
import type { Key } from '../../kinds/key.ts'
import type { ReconcileContext } from '../context.ts'
import { keysConcerned } from './keys-concerned.ts'
import { createGatheredLines, type GatheredLines } from './gathered-lines.ts'

type Known = Pick<ReconcileContext, 'store' | 'clock' | 'emit'>

/** Once it is known how many a cause touches, it is said again when they are so many times more. */
const GROWTH = 10

/** Keys that a line names. */
const KEYS_NAMED = 5

/** Said by whoever knows the cause: the reading, the create limit, the request budget, the ledger. */
const SAID_ELSEWHERE: ReadonlySet<Reason> = new Set([
  'InvalidManifest',
  'CreateLimit',
  'RateLimited',
  'LedgerFailed',
])

/** The problems of resources, by their causes: says one thing of a cause when it begins, and one when it ends. */
export interface StandingProblems {
  /** Takes what the board shows as known, the first time: what the ledger remembers was said by an earlier process. */
  begin(): void
  /** To be called when a key was reconciled, or is gone. @param isSaid that it has this problem was said already */
  note(key: Key, isSaid: boolean): void
  /** Says what is still held back. */
  flush(): void
}

interface Problem {
  readonly reason: Reason
  readonly service: string | undefined
  /** A trouble of the whole, of a service, or of something that is shared; otherwise of each resource by itself. */
  readonly isOne: boolean
  readonly keys: Set<Key>
  message: string
  /** Of one matter: the first that it touched, how many at most, and how many were said. */
  first: readonly Key[]
  most: number
  said: number
  /** Of each key; of one matter, of the first key for all. */
  readonly lines: GatheredLines<Key>
  readonly firstKey: Key
}

/** What a key has. */
interface Trouble {
  readonly cause: string
  readonly reason: Reason
  readonly message: string
  /** Nobody could look: it hides what was known before. */
  readonly isUnseen: boolean
}

export function createStandingProblems(context: Known, board: StatusBoard): StandingProblems {
  const { clock, emit } = context
  const problems = new Map<string, Problem>()
  /** The one that is shown first, then what is hidden behind it. */
  const troubles = new Map<Key, readonly Trouble[]>()
  let hasBegun = false

  function problemOf(cause: string, status: ResourceStatus): Problem {
    const known = problems.get(cause)
    if (known !== undefined) return known
    const { reason, service, message, key } = status
    const problem: Problem = {
      reason,
      service,
      isOne: isOneMatter(status),
      keys: new Set(),
      message,
      first: [],
      most: 0,
      said: 0,
      lines: createGatheredLines<Key>({
        clock,
        begins: (keys) => begins(problem, keys),
        ends: (keys, durationMs) => ends(problem, keys, durationMs),
        settled: () => settled(problem),
        done: () => problems.delete(cause),
      }),
      firstKey: key,
    }
    problems.set(cause, problem)
    return problem
  }

  /** It was said by an earlier process, or by somebody else. */
  function comeKnown({ cause }: Trouble, status: ResourceStatus, since: number): void {
    const problem = problemOf(cause, status)
    const { keys, isOne, lines, firstKey } = problem
    keys.add(status.key)
    problem.most = problem.said = keys.size
    if (problem.first.length < KEYS_NAMED) problem.first = [...keys]
    lines.known(isOne ? firstKey : status.key, since)
  }

  function come({ cause }: Trouble, status: ResourceStatus): void {
    const problem = problemOf(cause, status)
    const { keys, isOne, lines, firstKey } = problem
    const isFirst = keys.size === 0
    keys.add(status.key)
    if (!isOne) lines.begin(status.key, clock.now())
    else if (isFirst) {
      problem.message = status.message
      problem.first = keysConcerned(context, board, status)
      problem.most = problem.first.length
      lines.begin(firstKey, clock.now())
    } else {
      problem.most = Math.max(problem.most, keys.size)
      if (lines.isSettled && keys.size >= problem.said * GROWTH) grew(problem)
    }
  }

  function leave(key: Key, { cause }: Trouble): void {
    const problem = problems.get(cause)
    if (problem?.keys.delete(key) !== true) return
    if (!problem.isOne) problem.lines.end(key)
    else if (problem.keys.size === 0) problem.lines.end(problem.firstKey)
  }

  function begins(problem: Problem, keys: readonly Key[]): void {
    if (!problem.isOne) return say('ProblemFound', problem, { keys })
    if (problem.keys.size > problem.first.length) problem.first = [...problem.keys]
    problem.said = problem.first.length
    say('ProblemFound', problem, { keys: problem.first })
  }

  function ends(problem: Problem, keys: readonly Key[], durationMs: number): void {
    if (!problem.isOne) return say('ProblemOver', problem, { keys, durationMs })
    say('ProblemOver', problem, { keys: problem.first, resources: problem.most, durationMs })
  }

  /** Of those that find out by themselves, most have by now. */
  function settled(problem: Problem): void {
    if (problem.isOne && problem.keys.size > problem.said) grew(problem)
  }

  function grew(problem: Problem): void {
    problem.first = [...problem.keys]
    problem.said = problem.keys.size
    say('ProblemGrew', problem, { keys: problem.first })
  }

  function say(
    type: ProblemType,
    { isOne, message, reason, service }: Problem,
    about: { readonly keys: readonly Key[]; readonly resources?: number; readonly durationMs?: number },
  ): void {
    const { keys, resources = keys.length, durationMs = 0 } = about
    const [key] = keys
    const first = key === undefined ? undefined : board.get(key)
    const only = resources === 1 ? first : undefined
    const facts: ProblemFacts = {
      reason,
      service,
      resources,
      keys: keys.slice(0, KEYS_NAMED),
      file: only?.file,
      line: only?.line,
      manifestRevision: only?.manifestRevision,
    }
    const said = isOne ? message : (first?.message ?? message)
    if (type === 'ProblemOver') emit({ type, ...facts, durationMs })
    else if (type === 'ProblemGrew') emit({ type, ...facts, message: said })
    else emit({ type, ...facts, message: said })
  }

  return {
    begin() {
      if (hasBegun || board.version === 0) return
      hasBegun = true
      for (const shown of board.list()) {
        const standing = [shown, ...shownBehind(shown)].flatMap((status) => {
          const trouble = troubleOf(status)
          return trouble === undefined ? [] : [{ status, trouble }]
        })
        for (const { status, trouble } of standing) comeKnown(trouble, status, sinceOf(status))
        if (standing.length > 0)
          troubles.set(
            shown.key,
            standing.map(({ trouble }) => trouble),
          )
      }
    },
    note(key, isSaid) {
      const status = board.get(key)
      const before = troubles.get(key) ?? []
      const trouble = status && troubleOf(status)
      const same = before.find(({ cause }) => cause === trouble?.cause)
      const others = before.filter((one) => one !== same)
      const hidden = others.filter((one) => status !== undefined && !one.isUnseen && isHidden(status, one))
      for (const one of others) if (!hidden.includes(one)) leave(key, one)
      const after = trouble === undefined ? hidden : [trouble, ...hidden]
      if (after.length > 0) troubles.set(key, after)
      else troubles.delete(key)
      if (status === undefined || trouble === undefined) return
      if (same === undefined) {
        if (isSaid) comeKnown(trouble, status, clock.now())
        else come(trouble, status)
      } else if (isToldAnew(trouble.reason) && same.message !== trouble.message) {
        const problem = problems.get(trouble.cause)
        if (problem?.isOne === false) problem.lines.renew(key)
      }
    },
    flush() {
      for (const { lines } of problems.values()) lines.flush()
    },
  }
}

type ProblemType = 'ProblemFound' | 'ProblemGrew' | 'ProblemOver'

/** Undefined: it is well, or on its way, or somebody else says so. */
function troubleOf(status: ResourceStatus): Trouble | undefined {
  if (isWell(status) || SAID_ELSEWHERE.has(status.reason)) return undefined
  const { message } = tellingCondition(status)
  return { cause: causeOf(status), reason: status.reason, message, isUnseen: isUnseen(status) }
}
