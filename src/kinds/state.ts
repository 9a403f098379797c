import type { JsonObject } from '../lib/json.ts'
import type { RawText } from '../lib/mask/secret-mask.ts'

/*
 * A configured list of healthy states decides, otherwise the states that the service documents. Without both, the
 * name of a state is only a hint: it can mean unhealthy or temporary, and never healthy.
 */

export interface HealthyStates {
  readonly by: 'policy.healthyStates' | '--healthy-states'
  readonly states: readonly string[]
}

/** Names of states, by what they mean for a stop or start of the resource. */
export interface RestStates {
  readonly atRest?: readonly string[]
  readonly stopping?: readonly string[]
  readonly failed?: readonly string[]
  /** The resource copies existing data, possibly for hours. A stop loses this progress. */
  readonly loading?: readonly string[]
  readonly done?: readonly string[]
  /** The service deletes the resource: it is never adopted and never ready. */
  readonly deleting?: readonly string[]
}

/** States that the service documents. All others are `unjudged`. */
export interface KnownStates extends RestStates {
  readonly healthy: readonly string[]
  readonly moving: readonly string[]
  readonly unhealthy: readonly string[]
  /** Fields of a create's body for a resource that begins stopped. */
  readonly startPaused?: JsonObject
}

/** `moving`: temporary. `unjudged`: Pipewright does not know the state. */
export type StateVerdict = 'healthy' | 'unhealthy' | 'moving' | 'unjudged'

const BAD = new RegExp(
  [
    'abort|alert|broken|cancel|corrupt|crash|critical|dead|degrad|delet|denied|deny|disabled|disconnect|down|dropped',
    'error|evict|exception|fail|fatal|fault|firing|halt|impair|inactive|invalid|kill|lost|missing|not_?ready|offline',
    'paus|reject|remov|stall|stop|stuck|suspend|terminat|timed|timeout|trigger|unavailable|unhealthy|unreachable',
    'violat|warn',
  ].join('|'),
  'i',
)

/** Parts of the names of temporary states. "running" is left out, because that state lasts. */
const MOVING = new RegExp(
  [
    'applying|backfilling|booting|building|configuring|connecting|creating|deploying|init|installing|launching|loading',
    'migrating|modifying|moving|pending|preparing|progress|provisioning|queued|rebalancing|rebuilding|recovering',
    'registering|repairing|resizing|restarting|restoring|resuming|resync|scaling|scheduled|scheduling|setting|setup',
    'starting|syncing|transition|updating|upgrading|waiting|warming',
  ].join('|'),
  'i',
)

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

export function healthyStatesFor(
  own: readonly string[] | undefined,
  ofInstallation: readonly string[] | undefined,
): HealthyStates | undefined {
  if (own !== undefined) return { by: 'policy.healthyStates', states: own }
  return ofInstallation === undefined ? undefined : { by: '--healthy-states', states: ofInstallation }
}

const SEEN = /^(?!\p{M})[^\p{C}\p{Z}]+(?: [^\p{C}\p{Z}]+)*$/u

export function shownState(state: string): string {
  return SEEN.test(state) ? state : JSON.stringify(state).replaceAll(/(?! )[\p{C}\p{Z}]/gu, escaped)
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
