/**
 * @import { ResourceStatus } from '../../contract/status.ts'
 * @import { StateSpan } from '../recent-events.ts'
 */

import { element, foreign, heading, row, shape, table } from './elements.js'
import { ago, duration, exactly, serverTime } from './time.js'

const WIDTH = 600
const HEIGHT = 28
const TONES = ['state-a', 'state-b', 'state-c', 'state-d']

/** A state that lasts until the next one, or until it was last read. @typedef {{ name: string, from: number, to: number, seen: number }} Bar */

/** Whether the last check said how it is now: otherwise what is known is old. @param {Pick<ResourceStatus, 'conditions'>} resource */
function isRead({ conditions }) {
  return conditions.Synced.status !== 'Unknown'
}

/** The last state that was reported, with its age where it is old. @param {Pick<ResourceStatus, 'state' | 'checkedAt' | 'conditions'>} resource */
export function stateWords(resource) {
  const { state, checkedAt } = resource
  if (state === undefined) return undefined
  if (isRead(resource) || checkedAt === undefined) return foreign(state)
  return element('span', {}, foreign(state), ', ', ago(checkedAt))
}

/**
 * The states that the platform reported over time: a strip, and the same as a table.
 * @param {Pick<ResourceStatus, 'conditions'> & { readonly states: readonly StateSpan[] }} resource its states oldest first
 */
export function stateSection(resource) {
  const { states } = resource
  const last = states.at(-1)
  if (last === undefined) return []
  const isOld = !isRead(resource)
  const end = serverTime()
  const bars = states.map(({ state, from, until }, index) => {
    const to = states[index + 1]?.from ?? (isOld ? until : end)
    return { name: state ?? 'not reported', from, to, seen: until }
  })
  const rows = bars
    .toReversed()
    .map(({ name, from, to, seen }) => row([foreign(name), ago(from), duration(to - from), ago(seen)]))
  return [
    heading(2, 'State over time'),
    element(
      'p',
      { class: 'quiet' },
      'As the platform reported it since the daemon started',
      ...(isOld ? ['; last read ', ago(last.until)] : []),
      '.',
    ),
    strip(bars),
    table('State over time', ['State', 'From', 'For', 'Last seen'], rows),
  ]
}

/** @param {readonly Bar[]} bars */
function strip(bars) {
  const start = bars[0]?.from ?? 0
  const scale = WIDTH / Math.max(1, (bars.at(-1)?.to ?? 0) - start)
  const names = [...new Set(bars.map(({ name }) => name))]
  const parts = bars.map(({ name, from, to }) => {
    const title = shape('title', {})
    title.textContent = `${name} from ${exactly(from)}`
    return shape(
      'rect',
      {
        x: String((from - start) * scale),
        width: String(Math.max(2, (to - from) * scale)),
        y: '0',
        height: String(HEIGHT),
        class: toneAt(names.indexOf(name)),
      },
      title,
    )
  })
  const label = bars.map(({ name }) => name).join(', then ')
  return element(
    'div',
    { class: 'strip' },
    shape(
      'svg',
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': label.slice(0, 500),
      },
      ...parts,
    ),
    element(
      'p',
      { class: 'legend', 'aria-hidden': 'true' },
      ...names.slice(0, 10).map((name, index) => element('span', { class: toneAt(index) }, foreign(name))),
    ),
  )
}

/** @param {number} index */
function toneAt(index) {
  return TONES[index % TONES.length]
}
