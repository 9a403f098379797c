import { setUpActing } from './act.js'
import { followLinks, readAddress } from './address-bar.js'
import { get } from './api.js'
import { byId, controlById, element, setText } from './elements.js'
import { setUpFilter, setUpKeys, showFacets, showFilter } from './list-filter.js'
import { listQuery, setUpPages, showList } from './list.js'
import { keepFresh } from './live.js'
import { draw, drawAnew, drawFirst } from './draw.js'
import { showCheck, showNoResource, showResource, showWaiting } from './resource.js'
import { showFindings } from './findings.js'
import { showSource } from './source.js'
import { showStory, STORY_STEP } from './story.js'
import { showSummary } from './summary.js'
import { ago, exactly, tick, toServerTime } from './time.js'
import { showProblems } from './problem.js'

/**
 * @import { OverviewReply } from '../api/overview.ts'
 * @import { PageReply } from '../api/page.ts'
 * @import { ErrorReply } from '../replies.ts'
 * @import { Connection } from './live.js'
 */

const TICK_MS = 5_000

/** @type {OverviewReply | undefined} */
let overview
let storyLength = STORY_STEP
let isOneDrawn = false
let request = new AbortController()
/** @type {string | undefined} */
let version

/** Replies can overtake each other: only the last request counts. */
async function refresh() {
  request.abort()
  const own = new AbortController()
  request = own
  try {
    const { resource } = readAddress()
    const query = resource === undefined ? wholeQuery() : new URLSearchParams({ resource })
    const reply = await get('api/v1/page', query, own.signal)
    if (request === own) show(reply)
  } catch (error) {
    if (!own.signal.aborted) throw error
  } finally {
    drawFirst()
  }
}

function wholeQuery() {
  const { story } = readAddress()
  const query = listQuery()
  query.set('entries', String(storyLength))
  if (story !== undefined) query.set('story', story)
  return query
}

/** @param {PageReply} reply */
function show({ overview: known, refused, whole, one }) {
  const { resource } = readAddress()
  overview = known
  const { now: _now, ...shown } = known
  draw('overview', shown, () => {
    showSummary(known)
    showSource(known)
    showTitle()
  })
  version ??= known.version
  if (version !== known.version)
    byId('version').replaceChildren(`${known.version}: `, element('a', { href: '' }, 'load the new page'))
  if (whole !== undefined) showWhole(whole, known)
  if (one !== undefined) showOne(one)
  if (refused === undefined) return
  if (resource !== undefined) {
    drawAnew('one')
    showNoResource(resource, refused)
  } else refuse(refused)
}

/** @param {NonNullable<PageReply['whole']>} whole @param {OverviewReply} known */
function showWhole({ list, attention, findings, timeline, facets }, known) {
  const { search } = location
  draw('facets', [facets, known.counts], () => showFacets(facets, known.counts))
  draw('problems', [attention, search], () => showProblems(attention))
  draw('findings', [findings, known.revision], () => showFindings(findings))
  draw('list', [list, search], () => showList(list, known))
  draw('story', [timeline, search], () => showStory(timeline))
}

/** @param {ErrorReply} refused */
function refuse({ error, hint }) {
  for (const name of ['problems', 'findings', 'list', 'story']) drawAnew(name)
  for (const id of ['unwell-section', 'pages', 'story-empty', 'story-more']) byId(id).hidden = true
  for (const id of ['findings', 'list', 'entries']) byId(id).replaceChildren()
  setText('matches', `${error}. ${hint}`)
}

/** @param {NonNullable<PageReply['one']>} reply */
function showOne({ resource, history }) {
  const { now: _now, checkedAt, nextReconcileAt, lastReconciledAt: _at, states, ...shown } = resource
  const known = [checkedAt === undefined, nextReconcileAt === undefined, states.map(({ state }) => state)]
  draw('one', [shown, known, history, location.search], () => {
    isOneDrawn = true
    showResource(resource, history.items)
  })
  draw('check', [resource.key, checkedAt, nextReconcileAt, states], () => showCheck(resource))
}

function showTitle() {
  const { resource } = readAddress()
  const mark = overview?.verdict.level === 'unwell' ? '● ' : ''
  document.title = `${mark}${resource === undefined ? '' : `${resource} · `}Pipewright`
}

function showView() {
  const { resource, story } = readAddress()
  const isOne = resource !== undefined
  byId('whole').hidden = isOne
  byId('nav').hidden = isOne
  byId('one').hidden = !isOne
  if (isOne && byId('one').dataset.key !== resource) {
    drawAnew('one')
    showWaiting(resource, 'Loading…')
    isOneDrawn = false
  }
  byId('one').dataset.key = resource ?? ''
  controlById('story-type', HTMLSelectElement).value = story ?? ''
  showTitle()
}

/** Position in the list, for the way back. */
let leftAt = { top: 0, key: '' }

async function onAddress() {
  const { resource } = readAddress()
  const before = byId('one').dataset.key ?? ''
  if (before === '' && resource !== undefined) leftAt = { top: scrollY, key: resource }
  showView()
  showFilter()
  try {
    await refresh()
  } catch {
    if (resource !== undefined && !isOneDrawn)
      showWaiting(resource, 'The daemon does not answer. This page appears when it does.')
    want() // the next refresh reports the lost connection
  }
  if (resource !== undefined && before !== resource) {
    scrollTo(0, 0)
    byId('one-title').focus({ preventScroll: true })
  } else if (resource === undefined && before !== '' && !byId('whole').contains(document.activeElement)) {
    scrollTo(0, leftAt.top)
    document.getElementById(`row-${leftAt.key}`)?.focus({ preventScroll: true })
  } else if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
}

/** @type {Readonly<Record<Connection['how'] | 'none', readonly [name: string, text: string]>>} */
const CONNECTION = {
  live: ['live', 'live'],
  polled: ['waiting', 'no live updates: refreshed every 30 s'],
  lost: ['lost', 'connection lost'],
  none: ['waiting', 'connecting…'],
}

/** @type {Connection} */
let connection = { how: 'lost', asOf: undefined }

/** @param {Connection} state */
function showConnection(state) {
  connection = state
  const { how, asOf } = state
  const lost = how === 'lost' && asOf !== undefined
  const [name, text] = lost ? CONNECTION.lost : how === 'lost' ? CONNECTION.none : CONNECTION[how]
  byId('connection').className = name
  setText('connection', text)
  document.body.classList.toggle('old', lost)
  const banner = byId('lost')
  if (banner.hidden === !lost) return
  banner.hidden = !lost
  if (!lost) return
  banner.replaceChildren(
    `Connection lost. This page is of ${exactly(asOf)} (`,
    ago(toServerTime(asOf)),
    ') and can be old. Trying again…',
  )
}

function setUpStory() {
  byId('story-filter').addEventListener('submit', (event) => event.preventDefault())
  const type = controlById('story-type', HTMLSelectElement)
  type.addEventListener('input', () => {
    storyLength = STORY_STEP
    const query = new URLSearchParams(location.search)
    if (type.value === '') query.delete('story')
    else query.set('story', type.value)
    history.pushState({}, '', query.size === 0 ? location.pathname : `?${query}`)
    void onAddress()
  })
  byId('story-more').addEventListener('click', () => {
    storyLength = Math.min(storyLength * 2, 1_000)
    want()
  })
}

byId('incomplete').remove()
addEventListener('addresschange', () => void onAddress())
followLinks()
setUpFilter()
setUpPages()
setUpStory()
setUpActing()
setUpKeys()
showView()
showFilter()
const want = keepFresh(refresh, showConnection)
setInterval(() => {
  if (connection.asOf !== undefined) tick()
  // The server sends no event for a check without a change.
  if (connection.how !== 'lost' && readAddress().resource !== undefined) want()
}, TICK_MS)
addEventListener('checked', () => want())
