import { ago, badge, byId, element, fact, place, shortRevision, toneOf } from './elements.js'
import { keepFresh } from './live.js'
import { get, historyItem, resourceItem } from './resource.js'

const UNWELL_SHOWN = 50
const FINDINGS_SHOWN = 50
const HISTORY_SHOWN = 20
const PAGE_SIZE = 100

let shown = PAGE_SIZE

async function refresh() {
  const [unwell, all, history] = await Promise.all([
    get(`api/v1/resources?sort=status&well=false&limit=${UNWELL_SHOWN}`),
    get(`api/v1/resources?${filterQuery()}`),
    get(`api/v1/history?limit=${HISTORY_SHOWN}`),
  ])
  keepFocus(() => {
    showSummary(all)
    showUnwell(unwell)
    showFindings(all.overview.findings)
    showAll(all)
    showHistory(history.items, all.overview.now)
  })
}

/** Drawing again must not throw a person who uses the keyboard back to the top. */
function keepFocus(draw) {
  const id = document.activeElement?.id
  draw()
  if (id !== undefined && id !== '' && document.activeElement?.id !== id)
    byId(id)?.focus({ preventScroll: true })
}

function filterQuery() {
  const query = new URLSearchParams({ limit: String(shown) })
  for (const name of ['q', 'kind', 'status']) {
    const { value } = byId(name)
    if (value !== '') query.set(name, value)
  }
  return query
}

function showSummary({ counts, overview }) {
  const { verdict, version, sandbox, revision, manifestsDir, lastLoadAt, queueDepth, watchMode, now } =
    overview
  setText('verdict', verdict.sentence)
  setText('version', version)
  byId('summary').className = verdict.level
  byId('sandbox').hidden = !sandbox
  document.title = verdict.level === 'unwell' ? '● Pipewright' : 'Pipewright'
  byId('counts').replaceChildren(
    ...Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([status, count]) => element('li', {}, countButton(status, count))),
  )
  showStatuses(Object.keys(counts))
  const waiting = Object.values(queueDepth).reduce((sum, depth) => sum + depth, 0)
  byId('facts').replaceChildren(
    ...[
      fact('Revision', revision === undefined ? 'none yet' : shortRevision(revision.id)),
      fact('Manifests', manifestsDir),
      fact('Last read', lastLoadAt === undefined ? 'not yet' : ago(lastLoadAt, now)),
      fact('Watching', watchMode),
      fact('In the queue', String(waiting)),
      fact('Started', ago(overview.startedAt, now)),
    ].filter((one) => one !== undefined),
  )
}

/** Reads the number and the word; pressing it filters the list below. */
function countButton(status, count) {
  const button = element(
    'button',
    { type: 'button', id: `count-${status}`, class: `badge ${toneOf(status)}` },
    `${count} ${status}`,
  )
  button.addEventListener('click', () => {
    byId('status').value = status
    applyFilter()
    byId('resources').scrollIntoView()
  })
  return button
}

function showStatuses(statuses) {
  const select = byId('status')
  if (select.options.length > 1) return
  select.append(...statuses.map((status) => element('option', {}, status)))
}

function showUnwell({ items, total, overview }) {
  const troubles = [
    overview.sourceProblem,
    overview.brake.on
      ? `The create brake is on: ${overview.brake.wanted} creations are wanted, ${overview.brake.limit} may pass at once. ` +
        'Check that the manifests are meant; then raise --max-creates, or run "pipewright apply --yes".'
      : undefined,
    overview.ready.ok ? undefined : `Not ready: ${overview.ready.detail}`,
  ].filter((text) => text !== undefined)
  byId('unwell-section').hidden = troubles.length === 0 && total === 0
  byId('troubles').replaceChildren(...troubles.map((text) => element('li', {}, text)))
  byId('unwell').replaceChildren(...items.map((item) => resourceItem('unwell', item, overview.now)))
  showMore('unwell-more', total - items.length)
}

function showMore(id, count) {
  byId(id).hidden = count <= 0
  setText(id, `and ${count} more`)
}

function showFindings(findings) {
  const worst = findings.toSorted((a, b) => a.severity.localeCompare(b.severity)) // "error" comes before "warning"
  byId('findings-section').hidden = findings.length === 0
  byId('findings').replaceChildren(...worst.slice(0, FINDINGS_SHOWN).map(findingItem))
  showMore('findings-more', findings.length - FINDINGS_SHOWN)
}

function findingItem({ severity, code, file, line, column, endColumn, message, hint, lineText, related }) {
  const from = column - 1
  return element(
    'li',
    {},
    badge(severity),
    ' ',
    element('span', { class: 'key' }, message),
    ' ',
    element('code', { class: 'reason' }, code),
    element('div', { class: 'quiet' }, `${file}:${line}:${column}`),
    lineText === ''
      ? undefined
      : element(
          'pre',
          { tabindex: '0' },
          lineText.slice(0, from),
          element('mark', {}, lineText.slice(from, Math.max(endColumn - 1, from))),
          lineText.slice(Math.max(endColumn - 1, from)),
        ),
    element('div', {}, hint),
    ...related.map((other) =>
      element('div', { class: 'quiet' }, `${place(other.file, other.line)}: ${other.message}`),
    ),
  )
}

function showAll({ items, total, counts, overview }) {
  const any = Object.values(counts).some((count) => count > 0)
  byId('filter').hidden = !any
  byId('empty').hidden = total > 0
  setText(
    'empty',
    any
      ? 'No resource matches the filter.'
      : `There are no manifests in ${overview.manifestsDir} yet. Put one there, such as a Service and a Pipe, and it appears here.`,
  )
  byId('all').replaceChildren(...items.map((item) => resourceItem('all', item, overview.now)))
  byId('more').hidden = items.length >= total
  setText('more', `Show more (${total - items.length} left)`)
}

function showHistory(entries, now) {
  byId('history-empty').hidden = entries.length > 0
  byId('history').replaceChildren(...entries.map((entry) => historyItem(entry, now)))
}

/** Only when it differs: a live region is read out each time it is touched. */
function setText(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text
}

function showConnection(state) {
  byId('connection').className = state
  setText('connection', state === 'live' ? 'live' : 'Connection lost. What you see may be old; trying again…')
}

const soon = keepFresh(refresh, showConnection)

function applyFilter() {
  shown = PAGE_SIZE
  soon()
}

byId('filter').addEventListener('submit', (event) => event.preventDefault())
byId('filter').addEventListener('input', applyFilter)
byId('more').addEventListener('click', () => {
  shown += PAGE_SIZE
  soon()
})
