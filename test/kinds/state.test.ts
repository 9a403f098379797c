import { describe, expect, test } from 'vitest'
import { type HealthyStates, healthyStatesFor, judgeState, type StateVerdict } from '../../src/kinds/state.ts'

const LIST: HealthyStates = { by: 'policy.healthyStates', states: ['Running', 'Failed'] }

const ROWS: readonly {
  readonly why: string
  readonly states: readonly (string | undefined)[]
  readonly list?: HealthyStates
  readonly is: StateVerdict
}[] = [
  {
    why: 'a list decides, whatever a name sounds like',
    states: ['Running', 'Failed'],
    list: LIST,
    is: 'healthy',
  },
  {
    why: 'what a list does not name is not healthy, exactly as it is written',
    states: ['running', 'Idle', 'Provisioning', undefined],
    list: LIST,
    is: 'unhealthy',
  },
  {
    why: 'a name that sounds bad',
    states: [
      'Failed',
      'INTERNAL_ERROR',
      'InternalError',
      'Stopped',
      'Stopping',
      'Paused',
      'pausing',
      'Degraded',
      'Crashed',
      'Unhealthy',
      'Deleting',
      'Terminated',
      'Suspended',
      'Disconnected',
      'TimedOut',
      'ALERT',
      'Restarting after an error',
    ],
    is: 'unhealthy',
  },
  {
    why: 'a name that sounds like moving',
    states: [
      'Provisioning',
      'STARTING',
      'Creating',
      'Pending',
      'Updating',
      'Initializing',
      'in_progress',
      'Setup',
    ],
    is: 'moving',
  },
  {
    why: 'nobody judged any other: it is not called healthy',
    states: [
      'Running',
      'Streaming',
      'Processing',
      'OK',
      'Started',
      'Completed',
      'Healthy',
      '',
      'Läuft',
      undefined,
    ],
    is: 'unjudged',
  },
]

describe('a state is judged', () => {
  test.each(ROWS)('$why: $is', ({ states, list, is }) => {
    expect(states.map((state) => [state, judgeState(state, list)])).toEqual(
      states.map((state) => [state, is]),
    )
  })

  test('by the list of its manifest, or else by that of the installation', () => {
    expect(healthyStatesFor(['A'], ['B'])).toEqual({ by: 'policy.healthyStates', states: ['A'] })
    expect(healthyStatesFor(undefined, ['B'])).toEqual({ by: '--healthy-states', states: ['B'] })
    expect(healthyStatesFor(undefined, undefined)).toBeUndefined()
  })
})
