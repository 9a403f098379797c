import { describe, expect, test } from 'vitest'
import { type HealthyStates, healthyStatesFor, judgeState, shownState } from '../../src/kinds/state.ts'

const LIST: HealthyStates = { by: 'policy.healthyStates', states: ['Running', 'Failed'] }

const BAD = `Failed INTERNAL_ERROR InternalError Stopped Stopping Paused pausing Degraded Crashed Unhealthy
  Deleting Terminated Suspended Disconnected TimedOut ALERT`
const MOVING = 'Provisioning STARTING Creating Pending Updating Initializing in_progress Setup'
const OTHER = 'Running Streaming Processing OK Started Completed Healthy Läuft'

/** Each ends with the verdict. */
const ROWS: Readonly<
  Record<string, readonly [states: readonly (string | undefined)[], list?: HealthyStates]>
> = {
  'a list decides, whatever a name sounds like: healthy': [['Running', 'Failed'], LIST],
  'what a list does not name is not healthy, exactly as it is written: unhealthy': [
    ['running', 'Idle', 'Provisioning', undefined],
    LIST,
  ],
  'a name that sounds bad: unhealthy': [[...BAD.split(/\s+/), 'Restarting after an error']],
  'a name that sounds like moving: moving': [MOVING.split(' ')],
  'nobody judged any other: it is not called healthy: unjudged': [['', undefined, ...OTHER.split(' ')]],
}

describe('a state is judged', () => {
  test.each(Object.entries(ROWS))('%s', (title, [states, list]) => {
    const verdict = title.split(': ').at(-1)
    expect(states.filter((state) => judgeState(state, list, undefined) !== verdict)).toEqual([])
  })

  test('by the list of its manifest, or else by that of the installation', () => {
    expect(healthyStatesFor(['A'], ['B'])).toEqual({ by: 'policy.healthyStates', states: ['A'] })
    expect(healthyStatesFor(undefined, ['B'])).toEqual({ by: '--healthy-states', states: ['B'] })
    expect(healthyStatesFor(undefined, undefined)).toBeUndefined()
  })
})

describe('a state in a message', () => {
  test.each(
    Object.entries({
      'an ordinary one stands bare': { state: 'Running', is: 'Running' },
      'also of two words': { state: 'In progress', is: 'In progress' },
      'also in another script': { state: '実行中', is: '実行中' },
      'also with marks': { state: 'SYNC_ERROR: "x"', is: 'SYNC_ERROR: "x"' },
      'an empty one': { state: '', is: '""' },
      blanks: { state: '  ', is: '"  "' },
      'a blank before or after it': { state: 'Running ', is: '"Running "' },
      'two blanks, that look like one': { state: 'In  progress', is: '"In  progress"' },
      'a line break': { state: 'Running\nFailed', is: String.raw`"Running\nFailed"` },
      'a control character': { state: '\u0007\u009b', is: String.raw`"\u0007\u009b"` },
      'a blank that is none': { state: 'Running\u00a0', is: String.raw`"Running\u00a0"` },
      'a character without width': { state: '\u200b', is: String.raw`"\u200b"` },
      'half a character': { state: '\ud800', is: String.raw`"\ud800"` },
      'one beyond the first plane': { state: '\u{e0041}', is: String.raw`"\udb40\udc41"` },
      'a mark on nothing': { state: '\u0301', is: '"\u0301"' },
    }),
  )('%s', (_why, { state, is }) => {
    expect(shownState(state)).toBe(is)
  })
})
