import { isToldAnew } from '../../plan/conditions.ts'
import { isWell } from '../../plan/severity.ts'
import type { Reason } from '../../plan/reason.ts'
import { causeOf, isOneMatter } from '../../contract/cause.ts'
import type { ProblemFacts } from '../../contract/events.ts'
import { sinceOf, tellingCondition, type ResourceStatus, type StatusBoard } from '../../contract/status.ts'
import type { Key } from '../../kinds/key.ts'
import type { ReconcileContext } from '../context.ts'
import { keysConcerned } from './keys-concerned.ts'

type Known = Pick<ReconcileContext, 'store' | 'clock' | 'emit'>

/** What comes of one cause within this time after its first line is said in one line at the end of it: ms. */
const GATHER_MS = 10_000

/** Of resources that merely have the same kind of problem, so many have a line of their own before they are gathered. */
const ALONE = 3

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
  /** Says what is still being gathered. */
  flush(): void
}

interface Problem {
  readonly reason: Reason
  readonly service: string | undefined
  /** A trouble of the whole, of a service, or of something that is shared; otherwise of each resource by itself. */
  readonly isOne: boolean
  readonly since: number
  readonly keys: Set<Key>
  message: string
  /** How many it touched at most, and how many were said. */
  most: number
  said: number
  readonly came: Gathered
  readonly went: Gathered
}

interface Gathered {
  /** Lines of their own since the window was opened. */
  lines: number
  readonly keys: Set<Key>
  /** Undefined: nothing is being gathered. */
  close: (() => void) | undefined
}

export function createStandingProblems(context: Known, board: StatusBoard): StandingProblems {
  const { clock, emit } = context
  const problems = new Map<string, Problem>()
  const causes = new Map<Key, { readonly cause: string; readonly message: string }>()
  /** What closes each that is being gathered. */
  const gathering = new Set<() => void>()
  let hasBegun = false

  function problemOf(cause: string, status: ResourceStatus, since: number): Problem {
    const known = problems.get(cause)
    if (known !== undefined) return known
    const { reason, service } = status
    const problem: Problem = {
      reason,
      service,
      isOne: isOneMatter(status),
      since,
      keys: new Set(),
      message: status.message,
      most: 0,
      said: 0,
      came: { lines: 0, keys: new Set(), close: undefined },
      went: { lines: 0, keys: new Set(), close: undefined },
    }
    problems.set(cause, problem)
    return problem
  }

  function join(cause: string, status: ResourceStatus, since: number): Problem {
    const problem = problemOf(cause, status, since)
    problem.keys.add(status.key)
    problem.most = Math.max(problem.most, problem.keys.size)
    causes.set(status.key, { cause, message: tellingCondition(status).message })
    return problem
  }

  function come(cause: string, status: ResourceStatus): void {
    const isNew = problems.get(cause) === undefined
    const problem = join(cause, status, clock.now())
    problem.message = status.message
    if (!problem.isOne) {
      one(problem, problem.came, status.key, 'ProblemFound')
    } else if (isNew) {
      const concerned = keysConcerned(context, board, status)
      problem.said = concerned.length
      problem.most = concerned.length
      open(problem, problem.came, 'ProblemGrew')
      say('ProblemFound', problem, concerned)
    } else if (problem.came.close === undefined && problem.keys.size >= problem.said * GROWTH) {
      sayGrowth(problem)
    }
  }

  function leave(key: Key): void {
    const cause = causes.get(key)?.cause ?? ''
    const problem = problems.get(cause)
    causes.delete(key)
    if (problem?.keys.delete(key) !== true) return
    // What was not said yet is not said to be over.
    if (!problem.isOne && !problem.came.keys.delete(key)) one(problem, problem.went, key, 'ProblemOver')
    if (problem.keys.size > 0) return
    problems.delete(cause)
    problem.came.close?.()
    if (problem.isOne) say('ProblemOver', problem, [key], problem.most)
  }

  /** A line of its own, or one with those that come within the same time. */
  function one(problem: Problem, gathered: Gathered, key: Key, type: ProblemType): void {
    open(problem, gathered, type)
    gathered.lines += 1
    if (gathered.lines <= ALONE) say(type, problem, [key])
    else gathered.keys.add(key)
  }

  function open(problem: Problem, gathered: Gathered, type: ProblemType): void {
    if (gathered.close !== undefined) return
    function close(): void {
      cancel()
      gathering.delete(close)
      gathered.close = undefined
      gathered.lines = 0
      if (problem.isOne && problem.keys.size > problem.said) sayGrowth(problem)
      if (gathered.keys.size > 0) say(type, problem, [...gathered.keys])
      gathered.keys.clear()
    }
    const cancel = clock.after(GATHER_MS, close)
    gathered.close = close
    gathering.add(close)
  }

  function sayGrowth(problem: Problem): void {
    problem.said = problem.keys.size
    say('ProblemGrew', problem, [...problem.keys])
  }

  function say(type: ProblemType, problem: Problem, keys: readonly Key[], resources = keys.length): void {
    const { reason, service, message, since } = problem
    const [key] = keys
    const only = resources === 1 && key !== undefined ? board.get(key) : undefined
    const facts: ProblemFacts = {
      reason,
      service,
      resources,
      keys: keys.slice(0, KEYS_NAMED),
      file: only?.file,
      line: only?.line,
      manifestRevision: only?.manifestRevision,
    }
    const said = only?.message ?? message
    if (type === 'ProblemOver') emit({ type, ...facts, durationMs: clock.now() - since })
    else if (type === 'ProblemGrew') emit({ type, ...facts, message: said })
    else emit({ type, ...facts, message: said })
  }

  return {
    begin() {
      if (hasBegun || board.version === 0) return
      hasBegun = true
      for (const status of board.list()) {
        const cause = spokenCauseOf(status)
        if (cause === undefined) continue
        const problem = join(cause, status, sinceOf(status))
        problem.said = problem.most
      }
    },
    note(key, isSaid) {
      const status = board.get(key)
      const before = causes.get(key)
      const cause = status && spokenCauseOf(status)
      if (before !== undefined && before.cause !== cause) leave(key)
      if (status === undefined || cause === undefined) return
      const { message } = tellingCondition(status)
      if (before?.cause === cause && (!isToldAnew(status.reason) || before.message === message)) return
      if (isSaid) join(cause, status, clock.now())
      else come(cause, status)
    },
    flush() {
      for (const close of gathering) close()
    },
  }
}

type ProblemType = 'ProblemFound' | 'ProblemGrew' | 'ProblemOver'

/** Undefined: it is well, or on its way, or somebody else says so. */
function spokenCauseOf(status: ResourceStatus): string | undefined {
  return isWell(status) || SAID_ELSEWHERE.has(status.reason) ? undefined : causeOf(status)
}
