import type { ProblemFacts } from '../../contract/events.ts'
import {
  type Problem,
  isUnseen,
  tellingCondition,
  withConditions,
  type ResourceView,
  type StatusBoard,
} from '../../contract/view.ts'
import type { Key } from '../../kinds/key.ts'
import { sha256 } from '../../lib/digest.ts'
import { stableJson } from '../../lib/json.ts'
import { isRenotified } from '../../plan/conditions.ts'
import { explained, REASONS, type Explanation, type Reason } from '../../plan/reason.ts'
import { isWell } from '../../plan/severity.ts'
import type { ReconcileContext } from '../context.ts'

/** Ms. Changes within this time are reported together. */
const GATHER_MS = 2_000

const GROWTH = 10

const KEYS_NAMED = 5

/** This many equal failures in a service probably share a cause, such as a removed folder. */
const MANY = 4

type Tracked = Omit<Problem, 'keys'> & {
  readonly keys: Map<Key, string>
  since: number
  state: string
  because: Explanation
  isUnseen: boolean
  isReported: boolean
  isRenewed: boolean
  /** Number of keys at the last report. 0: not reported. */
  reported: number
  most: number
  endedAt: number
  named: readonly Key[]
}

/** Reports each problem when it begins, grows tenfold, and ends. */
export function createProblemTracker(
  { clock, emit }: Pick<ReconcileContext, 'clock' | 'emit'>,
  board: Pick<StatusBoard, 'get' | 'list'> & { listen?(listener: (key: Key) => void): void },
) {
  const byCause = new Map<string, readonly Tracked[]>()
  const ofKey = new Map<Key, readonly Tracked[]>()
  const changed = new Set<Tracked>()
  let remembered: readonly Problem[] = []
  let hasBegun = false
  let cancelTimer: (() => void) | undefined

  for (const { key } of board.list()) update(key)
  board.listen?.(update)

  function open(problem: Omit<Problem, 'keys'>, keys: ReadonlyMap<Key, string>): Tracked {
    const tracked: Tracked = {
      ...problem,
      keys: new Map(keys),
      because: { reason: problem.reason },
      isUnseen: false,
      isReported: false,
      isRenewed: false,
      reported: 0,
      most: keys.size,
      endedAt: 0,
      named: [],
    }
    byCause.set(problem.cause, [...(byCause.get(problem.cause) ?? []), tracked])
    return tracked
  }

  function close(problem: Tracked): void {
    changed.delete(problem)
    const others = (byCause.get(problem.cause) ?? []).filter((one) => one !== problem)
    if (others.length > 0) byCause.set(problem.cause, others)
    else byCause.delete(problem.cause)
  }

  /** If keys only probably share a cause, each has its own problem until `MANY` keys have that cause. */
  function problemOf(status: ResourceView): Tracked {
    const cause = causeOf(status)
    const known = byCause.get(cause) ?? []
    const [first] = known
    if (first !== undefined && isOneMatter(status)) return first
    const there = known.filter(({ keys }) => keys.size > 0)
    const several = there.find(({ keys }) => keys.size > 1)
    if (several === undefined && there.length >= MANY - 1) return merged(there, status)
    const returned = ({ keys, most, named }: Tracked) =>
      keys.size === 0 && (most > 1 || named.includes(status.key))
    return several ?? known.find(returned) ?? begun(status, new Map())
  }

  function merged(problems: readonly Tracked[], status: ResourceView): Tracked {
    const problem = begun(status, new Map(problems.flatMap(({ keys }) => [...keys])))
    for (const one of problems) {
      problem.since = Math.min(problem.since, one.since)
      problem.reported += one.reported
      for (const key of one.keys.keys())
        ofKey.set(key, ofKey.get(key)?.map((other) => (other === one ? problem : other)) ?? [])
      close(one)
    }
    problem.isRenewed = problem.reported > 0
    problem.because = problems[0]?.because ?? problem.because
    return problem
  }

  function begun(status: ResourceView, keys: ReadonlyMap<Key, string>): Tracked {
    const { reason, service, key, since } = status
    const cause = causeOf(status)
    const id = sha256(JSON.stringify([cause, since, key, ...keys.keys()])).slice(0, 32)
    const { severity } = REASONS[reason]
    return open({ id, cause, reason, severity, service, since, state: '' }, keys)
  }

  function join(problem: Tracked, status: ResourceView): void {
    const { keys, because } = problem
    const { key } = status
    const state = stateOf(status)
    const known = keys.get(key)
    const isOther = (known ?? '') !== '' && known !== state
    const isRenewed = hasBegun && isOther && !isOneMatter(status) && keys.size < MANY
    if (known === undefined || isRenewed) changed.add(problem)
    if (keys.size === 0 || isRenewed) problem.state = state
    const isUntold = keys.size === 0 || because.facts === undefined || isRenewed
    if (isUntold) problem.because = explained(tellingCondition(status))
    problem.isRenewed ||= isRenewed
    problem.since = Math.min(problem.since, status.since)
    problem.isUnseen = isUnseen(status)
    keys.set(key, hasBegun ? state : (known ?? state))
    problem.most = Math.max(problem.most, keys.size)
  }

  function leave(problem: Tracked, key: Key): void {
    problem.keys.delete(key)
    problem.endedAt = clock.now()
    if (problem.keys.size > 0 || problem.reported > 0) changed.add(problem)
    else close(problem)
  }

  function update(key: Key): void {
    const status = board.get(key)
    const before = ofKey.get(key) ?? []
    const shown = status === undefined ? [] : [status, ...shownBehind(status)].filter((one) => !isWell(one))
    const byItsCause = Map.groupBy(shown, causeOf)
    const others = before.filter(({ cause }) => !byItsCause.has(cause))
    const hides = status !== undefined && isUnseen(status)
    const hidden = others.filter((problem) => hides && !problem.isUnseen)
    for (const problem of others) if (!hidden.includes(problem)) leave(problem, key)
    const now = [...byItsCause].flatMap(([cause, [one]]) => {
      if (one === undefined) return []
      const problem = before.find((known) => known.cause === cause) ?? problemOf(one)
      join(problem, one)
      return problem
    })
    if (now.length + hidden.length > 0) ofKey.set(key, [...now, ...hidden])
    else ofKey.delete(key)
    if (hasBegun && changed.size > 0) cancelTimer ??= clock.after(GATHER_MS, report)
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

  function markReported(problem: Tracked): void {
    problem.reported = problem.keys.size
    problem.named = [...problem.keys.keys()].slice(0, KEYS_NAMED)
  }

  function tell(type: 'ProblemFound' | 'ProblemGrew' | 'ProblemOver', problem: Tracked): void {
    const { keys, reason, service, because, most, since, endedAt, isReported } = problem
    if (keys.size > 0) markReported(problem)
    const resources = type === 'ProblemOver' ? most : keys.size
    const [first] = problem.named
    const only = resources === 1 && first !== undefined ? board.get(first) : undefined
    const { file, line, manifestRevision, differences = [] } = only ?? {}
    const place = { file, line, manifestRevision, differences }
    const facts: ProblemFacts = { reason, service, resources, keys: problem.named, ...place, isReported }
    if (type === 'ProblemOver') emit({ type, ...facts, durationMs: Math.max(0, endedAt - since) })
    else emit({ type, ...facts, because })
  }

  return {
    /** Call it before the first reconcile. Then problems of an earlier process keep their ids. */
    remember(problems: readonly Problem[]) {
      remembered = problems
    },
    /** The first call counts all problems known by then as reported. */
    begin() {
      if (hasBegun) return
      byCause.clear()
      ofKey.clear()
      for (const { keys, ...problem } of remembered.toReversed()) {
        const own = keys.filter((key) => !ofKey.get(key)?.some(({ cause }) => cause === problem.cause))
        if (own.length === 0) continue
        const tracked = open(problem, new Map(own.map((key) => [key, problem.state])))
        for (const key of own) ofKey.set(key, [...(ofKey.get(key) ?? []), tracked])
      }
      for (const key of new Set([...ofKey.keys(), ...board.list().map((status) => status.key)])) update(key)
      changed.clear()
      for (const problem of [...byCause.values()].flat()) markReported(problem)
      hasBegun = true
    },
    setReported(key: Key) {
      const [first] = ofKey.get(key) ?? []
      if (first !== undefined) first.isReported = true
    },
    flush() {
      cancelTimer?.()
      report()
    },
    of(key: Key): Omit<Problem, 'keys'> | undefined {
      const status = board.get(key)
      return status === undefined || isWell(status) ? undefined : ofKey.get(key)?.[0]
    },
    reported(): readonly Problem[] | undefined {
      if (!hasBegun) return undefined
      return [...byCause.values()]
        .flat()
        .filter(({ keys, reported }) => reported > 0 && keys.size > 0)
        .map(({ id, cause, reason, severity, service, keys, since, state }) => {
          return { id, cause, reason, severity, service, keys: [...keys.keys()], since, state }
        })
    },
  }
}

function stateOf(status: ResourceView): string {
  const { facts } = tellingCondition(status)
  return isRenotified(status.reason) ? sha256(stableJson(facts ?? null)).slice(0, 12) : ''
}

/** Reasons with one cause for all resources. */
const OF_ALL: ReadonlySet<Reason> = new Set([
  'LedgerFailed',
  'ManifestVanishing',
  'NotLeading',
  'Unavailable',
])

/** Reasons with one cause per service. */
const OF_SERVICE: ReadonlySet<Reason> = new Set([
  'AuthFailed',
  'CreateLimit',
  'MassMissing',
  'RateLimited',
  'ServiceIdle',
])

/** Equal for resources with the same cause and remedy. */
function causeOf(resource: ResourceView): string {
  const { key, status, reason, service } = resource
  const { facts = {} } = tellingCondition(resource)
  if (OF_ALL.has(reason) || 'unreadable' in facts) return reason
  if (OF_SERVICE.has(reason)) return `${reason}/${service ?? ''}`
  // each unknown outcome needs its own search for a pipe
  if (status === 'OutcomeUnknown') return key
  const mistake = mistakeOf(resource)
  if (status === 'Invalid') return mistake === undefined ? key : `${reason}/${mistake}`
  return `${status}/${reason}/${service ?? ''}/${sharedFacts(reason, facts)}`
}

/** Whether resources with an equal cause surely share one problem. */
function isOneMatter({ status, reason }: ResourceView): boolean {
  return OF_ALL.has(reason) || OF_SERVICE.has(reason) || status === 'Invalid' || reason in SHARED
}

/** Problems that the shown problem hides until it is solved. */
function shownBehind(view: ResourceView): readonly ResourceView[] {
  const { Valid, Synced } = view.conditions
  const valid = { ...Valid, status: 'True', reason: 'Valid' } as const
  const synced = { ...Synced, status: 'True', reason: 'InSync' } as const
  const behind: ResourceView[] = []
  if (Valid.status !== 'True') behind.push(withConditions(view, { ...view.conditions, Valid: valid }))
  if (Synced.status !== 'True')
    behind.push(withConditions(view, { ...view.conditions, Valid: valid, Synced: synced }))
  return behind.filter((one) => REASONS[one.reason].status === one.status)
}

function mistakeOf({ conditions }: ResourceView): string | undefined {
  const { facts } = conditions.Valid
  return facts !== undefined && 'mistake' in facts ? facts.mistake : undefined
}

const SHARED = { DependencyNotReady: 'waitsFor', SecretUnavailable: 'missing' } as const

function sharedFacts(reason: Reason, facts: object): string {
  const name = SHARED[reason as keyof typeof SHARED]
  return name !== undefined && name in facts
    ? JSON.stringify(Object.entries(facts).find(([field]) => field === name))
    : ''
}
