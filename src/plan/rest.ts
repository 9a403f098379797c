import type { CreateOnceInput } from './input.ts'
import type { RestStates } from '../kinds/state.ts'
import type { LedgerRecord } from './record.ts'

/** A command that was just sent is not sent again for so long: it takes a moment until it shows. ms. */
export const SHOWS_MS = 60_000

/** What is to be done so that something runs, or rests, as it should. */
export interface RestStep {
  readonly command: 'start' | 'stop'
  readonly why: 'paused' | 'started' | 'started again'
  /** It was sent a moment ago. */
  readonly isSent: boolean
}

/** Undefined: it runs or rests as it should, as far as anybody said. */
export function restStep(input: CreateOnceInput): RestStep | undefined {
  const { policy, observed, recorded, steadyNow } = input
  const knownStates = statesOf(input)
  const state = observed.status === 'found' ? observed.state : undefined
  if (state === undefined || knownStates === undefined) return undefined
  const isStill = isAtRest(input) || knownStates.done?.includes(state) === true
  const why = whyOf(policy.paused, recorded.command?.isForChange === true)
  if (why === undefined) return undefined
  const command = why === 'paused' ? 'stop' : 'start'
  const isAsItShould =
    command === 'stop' ? isStill || knownStates.stopping?.includes(state) === true : !isAtRest(input)
  if (isAsItShould) return undefined
  const last = recorded.command
  const isSent = last?.command === command && steadyNow - last.at < SHOWS_MS
  return { command, why, isSent }
}

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

/** It was stopped so that it can be changed, and nobody has told it to start since. */
export function isStoppedForChange({ command }: LedgerRecord): boolean {
  return command?.command === 'stop' && command.isForChange === true
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
