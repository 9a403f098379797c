import { ago, badge, element, fact, place, shortRevision, toneOf } from './elements.js'

/** Resources that are unfolded, with what was last fetched of each: kept when the list is drawn again. */
const unfolded = new Map()

/** One resource of a list; unfolds to all that is known of it. */
export function resourceItem(list, resource, now) {
  const id = `${list}:${resource.key}`
  const inside = element('div', { class: 'inside' })
  const details = element('details', { open: unfolded.has(id) }, heading(id, resource), inside)
  details.addEventListener('toggle', () => {
    if (!details.open) {
      unfolded.delete(id)
      return
    }
    if (!unfolded.has(id)) unfolded.set(id, undefined)
    void fill(inside, id, resource, now)
  })
  const known = unfolded.get(id)
  if (known !== undefined) inside.replaceChildren(...insides(known.resource, known.history, now))
  return element('li', {}, details)
}

function heading(id, resource) {
  const { status, key, reason, message, conditions, file, line, revision } = resource
  const where = [place(file, line), shortRevision(revision)].filter((text) => text !== '').join(' · ')
  return element(
    'summary',
    { id },
    element('span', {}, badge(status)),
    element('span', { class: 'key' }, key, ' ', element('span', { class: 'reason' }, reason)),
    element('span', { class: 'where' }, where),
    element('span', { class: 'message' }, message),
    element('span', { class: 'conditions' }, ...Object.entries(conditions).map(conditionWord)),
  )
}

function conditionWord([type, { status, reason }]) {
  return element(
    'span',
    { class: toneOf(status === 'False' ? 'Failed' : status) },
    `${type}: ${status}, ${reason}`,
  )
}

async function fill(inside, id, { kind, name, key }, now) {
  try {
    const [resource, history] = await Promise.all([
      get(`api/v1/resources/${encodeURIComponent(kind)}/${encodeURIComponent(name)}`),
      get(`api/v1/history?limit=20&key=${encodeURIComponent(key)}`),
    ])
    if (unfolded.has(id)) unfolded.set(id, { resource, history: history.items })
    inside.replaceChildren(...insides(resource, history.items, now))
  } catch {
    if (unfolded.get(id) === undefined)
      inside.replaceChildren(element('p', {}, 'The details could not be loaded.'))
  }
}

export async function get(path) {
  const reply = await fetch(path, { signal: AbortSignal.timeout(15_000) })
  if (!reply.ok) throw new Error(`${path}: ${reply.status}`)
  return reply.json()
}

function insides(resource, history, now) {
  return [
    element('dl', { class: 'facts' }, ...facts(resource, now).filter((one) => one !== undefined)),
    element('h3', {}, 'Conditions'),
    table(
      ['Condition', 'Status', 'Reason', 'Message', 'Since'],
      Object.entries(resource.conditions).map(([type, { status, reason, message, since }]) => [
        type,
        badge(status),
        reason,
        message,
        ago(since, now),
      ]),
    ),
    ...(resource.differences.length === 0 ? [] : differences(resource.differences)),
    ...bodies(resource),
    element('h3', {}, 'History'),
    history.length === 0 ? element('p', { class: 'quiet' }, 'Nothing yet.') : historyList(history, now),
  ]
}

function facts(resource, now) {
  const { action, service, state, pipeId, lastReconciledAt, nextReconcileAt, suspendedUntil, labels } =
    resource
  return [
    fact('Last decision', action),
    fact('Service', service),
    fact('State', state),
    fact('Pipe id', pipeId),
    fact('Looked at', lastReconciledAt === undefined ? undefined : ago(lastReconciledAt, now)),
    fact('Next look', nextReconcileAt === undefined ? undefined : ago(nextReconcileAt, now)),
    fact('Suspended until', suspendedUntil),
    ...Object.entries(labels).map(([name, value]) => fact(name, value)),
  ]
}

function differences(list) {
  const rows = list.map(({ field, desired, observed }) => [
    element('code', {}, field),
    element('mark', {}, desired),
    element('mark', {}, observed),
  ])
  return [element('h3', {}, 'What differs'), table(['Field', 'Manifest', 'Platform'], rows)]
}

function bodies({ desired, observed, differences: list }) {
  const shown = [
    ['Manifest', desired],
    ['Platform', observed],
  ].filter(([, body]) => body !== undefined)
  if (shown.length === 0) return []
  const fields = list.map(({ field }) => field.replace(/\[.*$/, '').split('.').at(-1))
  return [
    element(
      'div',
      { class: 'bodies' },
      ...shown.map(([title, body]) =>
        element(
          'div',
          {},
          element('h3', {}, title),
          element('pre', { tabindex: '0' }, ...markedLines(body, fields)),
        ),
      ),
    ),
  ]
}

/** The JSON of a body, with the lines of differing fields marked. */
function markedLines(body, fields) {
  return JSON.stringify(body, undefined, 2)
    .split('\n')
    .flatMap((line) => {
      const marked = fields.some((field) => line.trimStart().startsWith(`"${field}":`))
      const text = line.trimStart()
      return marked ? [line.slice(0, -text.length), element('mark', {}, text), '\n'] : [line, '\n']
    })
}

function table(titles, rows) {
  return element(
    'div',
    { class: 'scroll' },
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element('tr', {}, ...titles.map((title) => element('th', { scope: 'col' }, title))),
      ),
      element(
        'tbody',
        {},
        ...rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, cell)))),
      ),
    ),
  )
}

function historyList(entries, now) {
  return element('ol', { class: 'history' }, ...entries.map((entry) => historyItem(entry, now)))
}

/** One line of the story: when, what, what became of it, from which commit. */
export function historyItem(entry, now) {
  const { key, at, type, reason, message, revision, requestId } = entry
  const what =
    type === 'condition' ? `${entry.condition} is ${entry.status}` : `${entry.action}: ${entry.result}`
  return element(
    'li',
    {},
    ago(at, now),
    element('span', { class: 'key' }, key),
    element('span', {}, `${what} (${reason})`),
    element('span', {}, message),
    element('span', { class: 'where' }, shortRevision(revision)),
    requestId === undefined ? undefined : element('span', { class: 'where' }, `request ${requestId}`),
  )
}
