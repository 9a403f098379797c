import type { RawText } from '../lib/mask/secret-mask.ts'
import { judgeState, type StateVerdict } from '../kinds/state.ts'
import type { Action } from './action.ts'
import type { ConditionStatus } from './condition.ts'
import type { DecideInput } from './input.ts'
import type { Because } from './reason.ts'
import { isAtRest, UNHEEDED_MS } from './rest.ts'
import type { z } from '../kinds/zod.ts'

/** A list of healthy states need not name those on the way there: for so long, one of those is no trouble. */
const ROLLOUT_MS = 15 * 60_000

interface SeenState {
  /** As the platform reported it last in this reconcile. */
  readonly state: RawText | undefined
  /** It was created in this reconcile. */
  readonly isNew: boolean
  readonly isInSync: boolean
  /** What was done in this reconcile. */
  readonly action: Action
}

/** What the state of something that is there says of its readiness. */
export function readinessOf(
  decided: DecideInput,
  { state, isNew, isInSync, action }: SeenState,
): { readonly status: z.infer<typeof ConditionStatus>; readonly because: Because } {
  const { healthyStates: list, knownStates: known } = decided
  const by = list?.by
  const verdict = judgeState(state, list, known)
  const sounds = judgeState(state, undefined, known)
  const isRollout =
    verdict === 'unhealthy' &&
    ((sounds === 'moving' && isYoung(decided, isNew)) || isOnItsWay(decided, { state, sounds, action }))
  const shown = state === undefined ? undefined : decided.mask(state)
  switch (isRollout ? 'moving' : verdict) {
    case 'healthy':
      return { status: 'True', because: { reason: 'Healthy', facts: { state: shown, by } } }
    case 'unhealthy':
      return {
        status: 'False',
        because: {
          reason: 'UnhealthyState',
          facts: {
            state: shown,
            healthy: list?.states,
            by,
            ...(list === undefined && known && DOCUMENTED),
            ...(judgeState(state, undefined, undefined) !== 'unhealthy' && MAY_BE_MOVING),
          },
        },
      }
    case 'moving':
      return {
        status: 'Unknown',
        because: { reason: 'StateChanging', facts: { state: shown ?? decided.mask('') } },
      }
    case 'unjudged':
      return { status: 'True', because: { reason: 'NotJudged', facts: { state: shown, isInSync } } }
  }
}

const DOCUMENTED = { isDocumented: true } as const
const MAY_BE_MOVING = { mayBeMoving: true } as const

/** Whether we created it a short while ago. By the steady clock: nobody makes it young again. */
function isYoung({ lifecycle, recorded, steadyNow }: DecideInput, isNew: boolean): boolean {
  if (lifecycle !== 'create-once') return false
  if (isNew) return true
  const { remote } = recorded
  return remote?.origin === 'created' && steadyNow - remote.at < ROLLOUT_MS
}

/** Whether we stopped or started it, a short while ago: that it rests for its change, or is on its way, is no trouble then. */
function isOnItsWay(
  decided: DecideInput,
  { state, sounds, action }: Pick<SeenState, 'state' | 'action'> & { readonly sounds: StateVerdict },
): boolean {
  const { recorded, lifecycle, steadyNow } = decided
  if (lifecycle !== 'create-once') return false
  const isResting = isAtRest({ ...decided, observed: { status: 'found', state, differences: [] } })
  if (isResting && action.type === 'update' && action.steps.some(({ body }) => body['command'] === 'start'))
    return true
  const { command } = recorded
  if (command === undefined || steadyNow - (command.since ?? command.at) >= UNHEEDED_MS) return false
  const isToRun = command.command === 'start' || command.isForChange === true
  return sounds === 'moving' || (isResting && isToRun)
}
