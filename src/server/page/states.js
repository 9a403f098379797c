import { element, foreign, heading, row, shape, table } from './elements.js'
import { ago, duration, exactly, serverTime } from './time.js'

const WIDTH = 600
const HEIGHT = 28
const TONES = ['state-a', 'state-b', 'state-c', 'state-d']

/** The states that the platform reported over time: a strip, and the same as a table. */
export function stateSection(states) {
  if (states.length === 0) return []
  const newest = states.toReversed()
  const end = serverTime()
  const lasts = (index) => (states[index + 1]?.from ?? end) - states[index].from
  const rows = newest.map((span, index) => {
    const at = states.length - 1 - index
    return row([foreign(span.state ?? 'not told'), ago(span.from), duration(lasts(at)), ago(span.until)])
  })
  return [
    heading(2, 'State over time'),
    element('p', { class: 'quiet' }, 'As the platform reported it since the daemon started.'),
    strip(states, end),
    table('State over time', ['State', 'From', 'For', 'Last seen'], rows),
  ]
}

function strip(states, end) {
  const start = states[0].from
  const scale = WIDTH / Math.max(1, end - start)
  const names = [...new Set(states.map(({ state }) => state ?? 'not told'))]
  const parts = states.map(({ state, from }, index) => {
    const name = state ?? 'not told'
    const to = states[index + 1]?.from ?? end
    const title = shape('title', {})
    title.textContent = `${name} from ${exactly(from)}`
    return shape(
      'rect',
      {
        x: String((from - start) * scale),
        width: String(Math.max(2, (to - from) * scale)),
        y: '0',
        height: String(HEIGHT),
        class: TONES[names.indexOf(name) % TONES.length],
      },
      title,
    )
  })
  const label = states.map(({ state }) => state ?? 'not told').join(', then ')
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
      ...names
        .slice(0, 10)
        .map((name) => element('span', { class: TONES[names.indexOf(name) % TONES.length] }, foreign(name))),
    ),
  )
}
