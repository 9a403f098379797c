import type { RawText } from '../lib/mask/secret-mask.ts'
import { judgeState, type StateVerdict } from '../kinds/state.ts'
import type { Action } from './action.ts'
import type { ConditionStatus } from './condition.ts'
import type { DecideInput } from './input.ts'
import type { Because } from './reason.ts'
import { isAtRest, UNHEEDED_MS } from './run-state.ts'
import type { z } from '../kinds/zod.ts'

/** A new resource is not called unhealthy for this long. */
const ROLLOUT_MS = 15 * 60_000

interface SeenState {
  readonly state: RawText | undefined
  readonly isNew: boolean
  readonly isInSync: boolean
  readonly action: Action
}

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
            ...(list === undefined && known && { isDocumented: true as const }),
            ...(judgeState(state, undefined, undefined) !== 'unhealthy' && { mayBeMoving: true as const }),
          },
        },
      }
    case 'moving':
      return {
        status: 'Unknown',
        because: {
          reason: 'Changing',
          facts: { why: 'platform', fields: [], by: [], is: 'moving', state: shown ?? decided.mask('') },
        },
      }
    case 'unjudged':
      return { status: 'True', because: { reason: 'NotJudged', facts: { state: shown, isInSync } } }
  }
}

function isYoung({ lifecycle, recorded, steadyNow }: DecideInput, isNew: boolean): boolean {
  if (lifecycle !== 'create-once') return false
  if (isNew) return true
  const { remote } = recorded
  return remote?.origin === 'created' && Math.abs(steadyNow - remote.at) < ROLLOUT_MS
}

/** Whether the state is expected after a recent stop or start by Pipewright. */
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
