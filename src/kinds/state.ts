import type { JsonObject } from '../lib/json.ts'
import type { RawText } from '../lib/mask/secret-mask.ts'

/*
 * What a `state` says about readiness. A person's list decides; without one what the service documents, where it does. The interface of
 * `spec/api.md` names no values (3): there the name of the state is all there is, and it can only speak against a resource. Nothing is
 * healthy because of its name.
 */

/** Who said which states are healthy. */
export interface HealthyStates {
  readonly by: 'policy.healthyStates' | '--healthy-states'
  readonly states: readonly string[]
}

/** Which states say that a resource was stopped, whatever its manifest asks for. */
export interface RestStates {
  /** It was stopped, and stays so until it is started. */
  readonly atRest?: readonly string[]
  /** On its way there. */
  readonly stopping?: readonly string[]
  /** It failed, and a start might help. */
  readonly failed?: readonly string[]
  /** It copies what is there already, which may take hours and is lost when it is stopped. */
  readonly loading?: readonly string[]
  /** It has done all that it was made for. */
  readonly done?: readonly string[]
  /** It will be gone: it is never adopted and never ready. */
  readonly deleting?: readonly string[]
}

/** What a service documents of the states of a resource. One that is not listed is neither good nor bad. */
export interface KnownStates extends RestStates {
  readonly healthy: readonly string[]
  readonly moving: readonly string[]
  readonly unhealthy: readonly string[]
  /** What a create adds so that it begins at rest; only if its manifest asks for that and the service can. */
  readonly startPaused?: JsonObject
}

/** `healthy`: a list names it. `unhealthy`: a list does not, or it sounds bad. `moving`: it sounds as if it went on. `unjudged`: nothing speaks for it or against it. */
export type StateVerdict = 'healthy' | 'unhealthy' | 'moving' | 'unjudged'

/** Parts of names that nobody gives to something that works. */
const BAD = new RegExp(
  [
    'abort|alert|broken|cancel|corrupt|crash|critical|dead|degrad|delet|denied|deny|disabled|disconnect|down|dropped',
    'error|evict|exception|fail|fatal|fault|firing|halt|impair|inactive|invalid|kill|lost|missing|not_?ready|offline',
    'paus|reject|remov|stall|stop|stuck|suspend|terminat|timed|timeout|trigger|unavailable|unhealthy|unreachable',
    'violat|warn',
  ].join('|'),
  'i',
)

/** Of something that begins or changes; `Running` and its like go on for good. */
const MOVING = new RegExp(
  [
    'applying|backfilling|booting|building|configuring|connecting|creating|deploying|init|installing|launching|loading',
    'migrating|modifying|moving|pending|preparing|progress|provisioning|queued|rebalancing|rebuilding|recovering',
    'registering|repairing|resizing|restarting|restoring|resuming|resync|scaling|scheduled|scheduling|setting|setup',
    'starting|syncing|transition|updating|upgrading|waiting|warming',
  ].join('|'),
  'i',
)

/** @param state as the platform reports it; `undefined`: it reports none */
export function judgeState(
  state: RawText | undefined,
  healthy: HealthyStates | undefined,
  known: KnownStates | undefined,
): StateVerdict {
  if (isDeleting(known, state)) return 'unhealthy'
  if (healthy !== undefined)
    return state !== undefined && healthy.states.includes(state) ? 'healthy' : 'unhealthy'
  if (state === undefined) return 'unjudged'
  if (known !== undefined) {
    if (known.healthy.includes(state)) return 'healthy'
    if (known.moving.includes(state)) return 'moving'
    return known.unhealthy.includes(state) ? 'unhealthy' : 'unjudged'
  }
  if (BAD.test(state)) return 'unhealthy'
  return MOVING.test(state) ? 'moving' : 'unjudged'
}

export function isDeleting(states: RestStates | undefined, state: string | null | undefined): boolean {
  return typeof state === 'string' && states?.deleting?.includes(state) === true
}

/** Names that plainly say that it failed: nobody means those to be healthy. */
const FAILURE = /fail|error|fatal|crash|corrupt|broken|dead/i

export function saysFailure(state: string): boolean {
  return FAILURE.test(state)
}

/** The list that counts for a resource: its own, or else that of the installation. */
export function healthyStatesFor(
  own: readonly string[] | undefined,
  ofInstallation: readonly string[] | undefined,
): HealthyStates | undefined {
  if (own !== undefined) return { by: 'policy.healthyStates', states: own }
  return ofInstallation === undefined ? undefined : { by: '--healthy-states', states: ofInstallation }
}

/** One or more words that can be seen, with one blank between two. */
const SEEN = /^(?!\p{M})[^\p{C}\p{Z}]+(?: [^\p{C}\p{Z}]+)*$/u

/** A state as messages show it: in quotes where it could not be seen, or not as it is. */
export function shownState(state: string): string {
  return SEEN.test(state) ? state : JSON.stringify(state).replaceAll(/(?! )[\p{C}\p{Z}]/gu, escaped)
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
