import { causeOf, isHidden, isOneMatter, isUnseen, MANY, shownBehind } from '../../contract/cause.ts'
import type { ProblemFacts } from '../../contract/events.ts'
import type { Problem } from '../../contract/problem.ts'
import { sinceOf, tellingCondition, type ResourceStatus, type StatusBoard } from '../../contract/status.ts'
import type { Key } from '../../kinds/key.ts'
import { sha256 } from '../../lib/digest.ts'
import { stableJson } from '../../lib/json.ts'
import { isToldAnew } from '../../plan/conditions.ts'
import { REASONS, type Reason } from '../../plan/reason.ts'
import { isWell } from '../../plan/severity.ts'
import type { ReconcileContext } from '../context.ts'

/** Changes within this time make one line: ms. */
const GATHER_MS = 2_000

/** A problem is reported again when it has grown so many times. */
const GROWTH = 10

/** Keys that an event names. */
const KEYS_NAMED = 5

/** The problems of resources. Reports each when it begins, when it grows tenfold, and when it ends. */
export interface ProblemTracker {
  /** Problems of an earlier process, under their ids. To be called before the first reconcile. */
  remember(problems: readonly Problem[]): void
  /** Takes the problems on the board as reported, the first time. */
  begin(): void
  /** To be called after each reconcile of a key. @param isReported whether another line reports its problem */
  note(key: Key, isReported: boolean): void
  /** Reports the gathered changes. */
  flush(): void
  /** Undefined: before the first reconcile. */
  list(): readonly Problem[] | undefined
}

type Tracked = Omit<Problem, 'keys' | 'state'> & {
  readonly keys: Set<Key>
  state: string
  message: string
  isReported: boolean
  isRenewed: boolean
  /** Keys when it was last reported. 0: it was not. */
  reported: number
  most: number
  /** When the last key left: ms since the epoch. */
  endedAt: number
  named: readonly Key[]
}

/** A problem of one key. */
interface Trouble {
  readonly cause: string
  readonly reason: Reason
  /** It hides the earlier problems of the key, and says nothing about them. */
  readonly isUnseen: boolean
  readonly state: string
  readonly problem: Tracked
}

export function createProblemTracker(
  { clock, emit }: Pick<ReconcileContext, 'clock' | 'emit'>,
  board: StatusBoard,
): ProblemTracker {
  const byCause = new Map<string, Set<Tracked>>()
  /** The visible one first, then the hidden ones. */
  const troubles = new Map<Key, readonly Trouble[]>()
  const changed = new Set<Tracked>()
  let remembered: readonly Problem[] = []
  let hasBegun = false
  let cancelTimer: (() => void) | undefined

  function open(problem: Tracked): Tracked {
    const others = byCause.get(problem.cause)
    if (others === undefined) byCause.set(problem.cause, new Set([problem]))
    else others.add(problem)
    return problem
  }

  /** The problem that a key joins. Few keys with a private cause have a problem each. */
  function problemOf(cause: string, status: ResourceStatus): Tracked {
    const known = [...(byCause.get(cause) ?? [])]
    const isOne = isOneMatter(status)
    const isMany = known.reduce((sum, { keys }) => sum + keys.size, 0) >= MANY
    const joined = known.findLast(
      ({ keys, reported }) => isOne || isMany || reported === 0 || keys.size === 0,
    )
    if (joined !== undefined) return joined
    const { reason, service, key } = status
    const since = sinceOf(status)
    const id = sha256(JSON.stringify([cause, since, key])).slice(0, 32)
    const { severity } = REASONS[reason]
    return open({ ...createEmpty(), id, cause, reason, severity, service, since })
  }

  function joinProblem(status: ResourceStatus): Trouble {
    const cause = causeOf(status)
    const state = stateOf(status)
    const problem = problemOf(cause, status)
    if (problem.keys.size === 0) {
      problem.message = tellingCondition(status).message
      problem.state = state
    }
    problem.keys.add(status.key)
    problem.most = Math.max(problem.most, problem.keys.size)
    changed.add(problem)
    return { cause, reason: status.reason, isUnseen: isUnseen(status), state, problem }
  }

  function leave(key: Key, { problem }: Trouble): void {
    problem.keys.delete(key)
    problem.endedAt = clock.now()
    changed.add(problem)
  }

  function renew(status: ResourceStatus, trouble: Trouble): Trouble {
    const { problem } = trouble
    const state = stateOf(status)
    if (state === trouble.state) return trouble
    if (!isOneMatter(status) && problem.keys.size < MANY) {
      problem.isRenewed = true
      problem.message = tellingCondition(status).message
      problem.state = state
      changed.add(problem)
    }
    return { ...trouble, state }
  }

  function report(): void {
    cancelTimer = undefined
    for (const problem of changed) {
      const { keys, reported, isRenewed } = problem
      if (keys.size === 0) {
        if (reported > 0) tell('ProblemOver', problem)
        close(problem)
      } else if (reported === 0 || isRenewed) tell('ProblemFound', problem)
      else if (keys.size >= reported * GROWTH) tell('ProblemGrew', problem)
      problem.isRenewed = false
    }
    changed.clear()
  }

  function close(problem: Tracked): void {
    const others = byCause.get(problem.cause)
    others?.delete(problem)
    if (others?.size === 0) byCause.delete(problem.cause)
  }

  function markReported(problem: Tracked): void {
    problem.reported = problem.keys.size
    problem.named = [...problem.keys].slice(0, KEYS_NAMED)
  }

  function tell(type: 'ProblemFound' | 'ProblemGrew' | 'ProblemOver', problem: Tracked): void {
    const { keys, reason, service, message, most, since, endedAt, isReported } = problem
    if (keys.size > 0) markReported(problem)
    const resources = type === 'ProblemOver' ? most : keys.size
    const [first] = problem.named
    const only = resources === 1 && first !== undefined ? board.get(first) : undefined
    const { file, line, manifestRevision } = only ?? {}
    const facts: ProblemFacts = {
      reason,
      service,
      resources,
      keys: problem.named,
      file,
      line,
      manifestRevision,
      isReported,
    }
    if (type === 'ProblemOver') emit({ type, ...facts, durationMs: Math.max(0, endedAt - since) })
    else if (type === 'ProblemGrew') emit({ type, ...facts, message })
    else emit({ type, ...facts, message })
  }

  function restore(): void {
    const ofKey = new Map<Key, Tracked[]>()
    for (const { keys, ...problem } of remembered) {
      const tracked = open({ ...createEmpty(), ...problem, reported: keys.length })
      for (const key of keys) ofKey.set(key, [...(ofKey.get(key) ?? []), tracked])
      changed.add(tracked)
    }
    for (const shown of board.list()) {
      const earlier = (ofKey.get(shown.key) ?? []).map((problem) => rejoin(shown.key, problem))
      const visible = [shown, ...shownBehind(shown)].filter((status) => !isWell(status))
      const causes = new Set(visible.map(causeOf))
      const found = visible.map(
        (status) => earlier.find(({ cause }) => cause === causeOf(status)) ?? joinProblem(status),
      )
      const others = earlier.filter(({ cause }) => !causes.has(cause))
      const hidden = isUnseen(shown) ? others : []
      for (const one of others) if (!hidden.includes(one)) leave(shown.key, one)
      if (found.length + hidden.length > 0) troubles.set(shown.key, [...found, ...hidden])
    }
    for (const problem of changed)
      if (problem.keys.size > 0) markReported(problem)
      else close(problem)
    changed.clear()
  }

  function rejoin(key: Key, problem: Tracked): Trouble {
    problem.keys.add(key)
    problem.most = Math.max(problem.most, problem.keys.size)
    const { cause, reason, state } = problem
    return { cause, reason, isUnseen: false, state, problem }
  }

  return {
    remember(problems) {
      remembered = problems
    },
    begin() {
      if (hasBegun) return
      hasBegun = true
      restore()
    },
    note(key, isReported) {
      const status = board.get(key)
      const before = troubles.get(key) ?? []
      const cause = status === undefined || isWell(status) ? undefined : causeOf(status)
      const same = before.find((one) => one.cause === cause)
      const others = before.filter((one) => one !== same)
      const hidden = others.filter((one) => status !== undefined && !one.isUnseen && isHidden(status, one))
      for (const one of others) if (!hidden.includes(one)) leave(key, one)
      const shown =
        cause === undefined || status === undefined
          ? []
          : [same === undefined ? joinProblem(status) : renew(status, same)]
      for (const { problem } of shown) problem.isReported ||= isReported
      if (shown.length + hidden.length > 0) troubles.set(key, [...shown, ...hidden])
      else troubles.delete(key)
      if (changed.size > 0) cancelTimer ??= clock.after(GATHER_MS, report)
    },
    flush() {
      cancelTimer?.()
      report()
    },
    list() {
      if (!hasBegun) return undefined
      return [...byCause.values()]
        .flatMap((problems) => [...problems])
        .filter(({ keys, reported }) => reported > 0 && keys.size > 0)
        .map(({ id, cause, reason, severity, service, keys, since, state }) => {
          return { id, cause, reason, severity, service, keys: [...keys], since, state }
        })
    },
  }
}

function createEmpty() {
  const none: readonly Key[] = []
  const flags = { isReported: false, isRenewed: false }
  return {
    keys: new Set<Key>(),
    state: '',
    message: '',
    ...flags,
    reported: 0,
    most: 0,
    endedAt: 0,
    named: none,
  }
}

/** Facts of reasons under which a second fact is news, such as another field that drifts. */
function stateOf(status: ResourceStatus): string {
  const { facts } = tellingCondition(status)
  return isToldAnew(status.reason) ? sha256(stableJson(facts ?? null)).slice(0, 12) : ''
}
