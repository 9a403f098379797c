import { CORRECTION_BACKOFF, failedStart } from './corrections.ts'
import { stateIn, type CreateOnceInput } from './input.ts'
import type { RestStates } from '../kinds/state.ts'
import type { Because } from './reason.ts'
import type { LedgerRecord } from './record.ts'

/** A read might show the effect of a command only after this time. */
export const SHOWS_MS = 60_000
/** A command that has no effect for this long is reported. */
export const UNHEEDED_MS = 10 * 60_000

type Command = 'start' | 'stop'

/** `unheeded`: the command had no effect, and is repeated only after an hour. */
type CommandFate = 'to be sent' | 'waited for' | 'unheeded'

interface RunStateStep {
  readonly command: Command
  readonly why: 'paused' | 'started' | 'started again'
  readonly fate: CommandFate | 'given up'
  /** `[command]` if the command undoes a change by another writer, or a failure. Otherwise empty. */
  readonly corrects: readonly Command[]
}

/** The start or stop that the pipe needs. Undefined: its state is as wanted, unknown, or still changing. */
export function runStateStep(input: CreateOnceInput): RunStateStep | undefined {
  const { policy, observed, recorded } = input
  if (stateIn(observed) === undefined || statesOf(input) === undefined) return undefined
  const why = whyOf(policy.paused, isStoppedByUs(recorded))
  if (why === undefined) return undefined
  if (isState(input, 'stopping')) {
    const fate = commandFate(input, 'stop')
    if (fate === 'waited for') return undefined
    // A stopping pipe cannot be started, so the slow stop is reported instead.
    return { command: 'stop', why, fate: why === 'paused' ? fate : 'unheeded', corrects: [] }
  }
  if (why === 'started' && isFailed(input)) return failedStep(input)
  if (why !== 'paused') return isAtRest(input) ? stepOf(input, 'start', why) : undefined
  const isStill = isAtRest(input) || isState(input, 'done')
  return isStill ? undefined : stepOf(input, 'stop', why)
}

function stepOf(input: CreateOnceInput, command: Command, why: RunStateStep['why']): RunStateStep {
  const isAgain = input.recorded.command?.command === command || why === 'started again'
  return { command, why, fate: commandFate(input, command), corrects: isAgain ? [] : [command] }
}

function failedStep(input: CreateOnceInput): RunStateStep | undefined {
  const start = failedStart(input)
  if (start === 'later') return undefined
  const fate = start === 'now' ? 'to be sent' : start
  return { command: 'start', why: 'started', fate, corrects: ['start'] }
}

export function isFailed(input: CreateOnceInput): boolean {
  return isState(input, 'failed')
}

export function commandFate(input: CreateOnceInput, command: Command): CommandFate {
  const { recorded, steadyNow, isAsked } = input
  const isOnItsWay = command === 'stop' && isState(input, 'stopping')
  const last = recorded.command
  if (last?.command !== command) return isOnItsWay ? 'waited for' : 'to be sent'
  const { at, since = at } = last
  const elapsed = steadyNow - at
  if (steadyNow - since >= UNHEEDED_MS)
    return isAsked === true || elapsed >= CORRECTION_BACKOFF.firstMs ? 'to be sent' : 'unheeded'
  return isOnItsWay || elapsed < againAfterMs(last) ? 'waited for' : 'to be sent'
}

export function againAfterMs({ at, since = at }: NonNullable<LedgerRecord['command']>): number {
  return Math.max(SHOWS_MS, at - since)
}

export function unheeded({
  observed,
  recorded,
  steadyNow,
  mask,
}: CreateOnceInput): Because<'Stalled'> | undefined {
  const { command } = recorded
  if (command === undefined || steadyNow - (command.since ?? command.at) < UNHEEDED_MS) return undefined
  const why = WHY_SENT[command.command][command.isForChange === true ? 'for a change' : 'by policy']
  const state = mask(stateIn(observed) ?? '')
  return { reason: 'Stalled', facts: { fields: [], again: 'in an hour', command: { why, state } } }
}

const WHY_SENT = {
  stop: { 'for a change': 'change', 'by policy': 'paused' },
  start: { 'for a change': 'started again', 'by policy': 'started' },
} as const

function whyOf(paused: boolean | undefined, isForChange: boolean): RunStateStep['why'] | undefined {
  if (paused === true) return 'paused'
  if (isForChange) return 'started again'
  return paused === false ? 'started' : undefined
}

function statesOf({ knownStates, kind }: CreateOnceInput): RestStates | undefined {
  return knownStates ?? kind.changes?.rest
}

function isState(input: CreateOnceInput, states: keyof RestStates): boolean {
  const state = stateIn(input.observed)
  return state !== undefined && statesOf(input)?.[states]?.includes(state) === true
}

export function isAtRest(input: CreateOnceInput): boolean {
  return isState(input, 'atRest')
}

/** Only a person can stop a loading pipe, because a stop discards the loaded data. */
export function isLoading(input: CreateOnceInput): boolean {
  const { policy, isAsked, recorded } = input
  const isToStop = policy.paused === true || isAsked === true || isStoppedForChange(recorded)
  return !isToStop && isState(input, 'loading')
}

export function loadingFacts({ observed, mask }: CreateOnceInput) {
  return { is: 'loading', state: mask(stateIn(observed) ?? '') } as const
}

export function isStoppedForChange({ command }: LedgerRecord): boolean {
  return command?.command === 'stop' && command.isForChange === true
}

export function isStoppedByUs(record: LedgerRecord | undefined): boolean {
  return record?.command?.isForChange === true
}

export function isRunning(input: CreateOnceInput): boolean {
  return stateIn(input.observed) !== undefined && !isAtRest(input) && !isState(input, 'stopping')
}

export function isSeenToRun(input: CreateOnceInput): boolean {
  return input.observed.status === 'found' && !isAtRest(input) && !isStopping(input)
}

/** Also true soon after a stop command, because reads can show its effect late. */
export function isStopping(input: CreateOnceInput): boolean {
  const { observed, recorded, steadyNow } = input
  if (stateIn(observed) === undefined || isAtRest(input)) return false
  const { command } = recorded
  const isNew = command?.command === 'stop' && steadyNow - command.at < SHOWS_MS
  return isNew || isState(input, 'stopping')
}
