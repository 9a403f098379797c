import { AGAIN_MS, failedStart } from './corrections.ts'
import type { CreateOnceInput } from './input.ts'
import type { RestStates } from '../kinds/state.ts'
import type { Because, FactsOf } from './reason.ts'
import type { LedgerRecord } from './record.ts'

/** A command that was just sent is not sent again for so long: it takes a moment until it shows. ms. */
export const SHOWS_MS = 60_000
/** One of which nothing comes for so long is reported: ms. */
export const UNHEEDED_MS = 10 * 60_000

type Command = 'start' | 'stop'

/** `unheeded`: nothing came of it for so long that it is reported, and only sent again after an hour. */
type CommandFate = 'to be sent' | 'waited for' | 'unheeded'

/** `given up`: what failed was started often enough. */
type RestFate = CommandFate | 'given up'

/** What is to be done so that something runs, or rests, as it should. */
export interface RestStep {
  readonly command: Command
  readonly why: 'paused' | 'started' | 'started again'
  readonly fate: RestFate
  /** The command, where another writer, or a failure, undid the last one. */
  readonly corrects: readonly Command[]
}

/** Undefined: it runs or rests as it should, as far as anybody said. */
export function restStep(input: CreateOnceInput): RestStep | undefined {
  const { policy, observed, recorded } = input
  const knownStates = statesOf(input)
  const state = observed.status === 'found' ? observed.state : undefined
  if (state === undefined || knownStates === undefined) return undefined
  const why = whyOf(policy.paused, recorded.command?.isForChange === true)
  if (why === undefined) return undefined
  if (knownStates.stopping?.includes(state) === true) {
    const fate = commandFate(input, 'stop')
    if (fate === 'waited for') return undefined
    // What does not end to stop cannot be started.
    return { command: 'stop', why, fate: why === 'paused' ? fate : 'unheeded', corrects: [] }
  }
  if (why === 'started' && isFailed(input)) return failedStep(input)
  if (why !== 'paused') return isAtRest(input) ? stepOf(input, 'start', why) : undefined
  const isStill = isAtRest(input) || knownStates.done?.includes(state) === true
  return isStill ? undefined : stepOf(input, 'stop', why)
}

function stepOf(input: CreateOnceInput, command: Command, why: RestStep['why']): RestStep {
  const isAgain = input.recorded.command?.command === command || why === 'started again'
  return { command, why, fate: commandFate(input, command), corrects: isAgain ? [] : [command] }
}

/** What failed is started a few times. */
function failedStep(input: CreateOnceInput): RestStep | undefined {
  const start = failedStart(input)
  if (start === 'later') return undefined
  const fate = start === 'now' ? 'to be sent' : start
  return { command: 'start', why: 'started', fate, corrects: ['start'] }
}

export function isFailed(input: CreateOnceInput): boolean {
  const { observed } = input
  const state = observed.status === 'found' ? observed.state : undefined
  return state !== undefined && statesOf(input)?.failed?.includes(state) === true
}

/** What becomes of a command that is to be carried out, and is not. It is sent ever less often. */
export function commandFate(input: CreateOnceInput, command: Command): CommandFate {
  const { observed, recorded, steadyNow, isAsked } = input
  const state = observed.status === 'found' ? (observed.state ?? '') : ''
  const isOnItsWay = command === 'stop' && statesOf(input)?.stopping?.includes(state) === true
  const last = recorded.command
  // Somebody else has stopped it.
  if (last?.command !== command) return isOnItsWay ? 'waited for' : 'to be sent'
  const { at, since = at } = last
  const elapsed = steadyNow - at
  if (steadyNow - since >= UNHEEDED_MS)
    return isAsked === true || elapsed >= AGAIN_MS ? 'to be sent' : 'unheeded'
  return isOnItsWay || elapsed < againAfterMs(last) ? 'waited for' : 'to be sent'
}

/** So long after it was sent, a command that is not heeded is sent again: ms. */
export function againAfterMs({ at, since = at }: NonNullable<LedgerRecord['command']>): number {
  return Math.max(SHOWS_MS, at - since)
}

/** What is reported of a command that is recorded, and not heeded for long; undefined: it was, or may be yet. */
export function unheeded({
  observed,
  recorded,
  steadyNow,
  mask,
}: CreateOnceInput): Because<'Stalled'> | undefined {
  const { command } = recorded
  if (command === undefined || steadyNow - (command.since ?? command.at) < UNHEEDED_MS) return undefined
  const why = WHY_SENT[command.command][command.isForChange === true ? 'for a change' : 'by policy']
  const state = mask(observed.status === 'found' ? (observed.state ?? '') : '')
  return {
    reason: 'Stalled',
    facts: { fields: [], now: false, again: 'in an hour', command: { why, state } },
  }
}

const WHY_SENT = {
  stop: { 'for a change': 'change', 'by policy': 'paused' },
  start: { 'for a change': 'started again', 'by policy': 'started' },
} as const

function whyOf(paused: boolean | undefined, isForChange: boolean): RestStep['why'] | undefined {
  if (paused === true) return 'paused'
  if (isForChange) return 'started again'
  return paused === false ? 'started' : undefined
}

/** Also of one whose manifest nobody can read. */
function statesOf({ knownStates, kind }: CreateOnceInput): RestStates | undefined {
  return knownStates ?? kind.changes?.rest
}

export function isAtRest(input: CreateOnceInput): boolean {
  const { observed } = input
  const state = observed.status === 'found' ? observed.state : undefined
  return state !== undefined && statesOf(input)?.atRest?.includes(state) === true
}

/** Whether it is not to be stopped for a change now: that would throw away what it has loaded. A person may ask for it all the same. */
export function isLoading(input: CreateOnceInput): boolean {
  const { observed, policy, isAsked, recorded } = input
  const state = observed.status === 'found' ? (observed.state ?? '') : ''
  const isToStop = policy.paused === true || isAsked === true || isStoppedForChange(recorded)
  return !isToStop && statesOf(input)?.loading?.includes(state) === true
}

/** What is said of one that is not stopped now. */
export function loadingFacts({ desired, observed, mask }: CreateOnceInput): FactsOf<'Changing'>['loading'] {
  return { key: desired.key, state: mask(observed.status === 'found' ? (observed.state ?? '') : '') }
}

/** It was stopped so that it can be changed, and nobody has told it to start since. */
export function isStoppedForChange({ command }: LedgerRecord): boolean {
  return command?.command === 'stop' && command.isForChange === true
}

/** It was stopped for a change, and was not seen to run since. */
export function isStoppedByUs(record: LedgerRecord | undefined): boolean {
  return record?.command?.isForChange === true
}

/** Found, and neither at rest nor on its way there, by its own words. */
export function isRunning(input: CreateOnceInput): boolean {
  const { observed } = input
  const state = observed.status === 'found' ? observed.state : undefined
  return state !== undefined && !isAtRest(input) && statesOf(input)?.stopping?.includes(state) !== true
}

/** Seen to run, a while after it was told to stop, if it was: nothing is left to be started again. */
export function isSeenToRun(input: CreateOnceInput): boolean {
  return input.observed.status === 'found' && !isAtRest(input) && !isStopping(input)
}

/** On its way to rest; also when it was told so a moment ago, and does not show it yet. */
export function isStopping(input: CreateOnceInput): boolean {
  const { observed, recorded, steadyNow } = input
  const state = observed.status === 'found' ? observed.state : undefined
  if (state === undefined || isAtRest(input)) return false
  const { command } = recorded
  const isNew = command?.command === 'stop' && steadyNow - command.at < SHOWS_MS
  return isNew || statesOf(input)?.stopping?.includes(state) === true
}
