import { setUpActing } from './act.js'
import { followLinks, narrowed, readAddress } from './address-bar.js'
import { get, ReplyError, resourcePath } from './api.js'
import { byId, controlById, element, setText } from './elements.js'
import { setUpFilter, setUpKeys, showFacets, showFilter } from './list-filter.js'
import { listQuery, setUpPages, showList } from './list.js'
import { keepFresh } from './live.js'
import { draw, drawAnew, drawFirst } from './draw.js'
import { showCheck, showNoResource, showResource, showWaiting } from './resource.js'
import { FINDINGS_SHOWN, showFindings } from './findings.js'
import { showSource } from './source.js'
import { showStory, STORY_STEP } from './story.js'
import { showSummary } from './summary.js'
import { ago, exactly, tick, toServerTime } from './time.js'
import { showProblems, PROBLEMS_SHOWN } from './problem.js'

/**
 * @import { FacetsReply } from '../api/facets.ts'
 * @import { OverviewReply } from '../api/overview.ts'
 * @import { Connection, Part } from './live.js'
 */

const TICK_MS = 5_000
const HISTORY_SHOWN = 50

/** @type {OverviewReply | undefined} */
let overview
/** @type {FacetsReply | undefined} */
let facets
let storyLength = STORY_STEP
let isOneDrawn = false
/** @type {string | undefined} */
let shownStory
let listRequest = new AbortController()
/** @type {string | undefined} */
let version

/** @param {ReadonlySet<Part>} parts */
async function refresh(parts) {
  const wanted = readAddress()
  const jobs = [loadOverview()]
  if (has(parts, 'resources', 'source')) jobs.push(loadProblems(), loadFindings(), loadList(), loadFacets())
  if (has(parts, 'history', 'source')) jobs.push(loadStory())
  if (wanted.resource !== undefined && has(parts, 'resources', 'history', 'source', 'one'))
    jobs.push(loadResource(wanted.resource))
  await Promise.all(jobs).finally(drawFirst)
}

/** @param {ReadonlySet<Part>} parts @param {...Part} names */
function has(parts, ...names) {
  return names.some((name) => parts.has(name))
}

async function loadOverview() {
  const reply = await get('api/v1/overview')
  overview = reply
  const { now: _now, ...shown } = reply
  draw('overview', shown, () => {
    showSummary(reply)
    showSource(reply)
    showTitle()
    if (facets !== undefined) showFacets(facets, reply.counts)
  })
  version ??= reply.version
  if (version !== reply.version)
    byId('version').replaceChildren(`${reply.version}: `, element('a', { href: '' }, 'load the new page'))
}

async function loadProblems() {
  const query = narrowed()
  const shown = String(query)
  query.set('limit', String(PROBLEMS_SHOWN))
  const problems = await get('api/v1/attention', query).catch(asNothing)
  if (shown !== String(narrowed())) return
  if (problems !== undefined) draw('problems', [problems, location.search], () => showProblems(problems))
  else {
    drawAnew('problems')
    byId('unwell-section').hidden = true
  }
}

async function loadFindings() {
  const query = narrowed()
  const shown = String(query)
  query.set('limit', String(FINDINGS_SHOWN))
  const findings = await get('api/v1/findings', query).catch(asNothing)
  if (shown !== String(narrowed())) return
  if (findings !== undefined) draw('findings', [findings, overview?.revision], () => showFindings(findings))
  else {
    drawAnew('findings')
    byId('findings').replaceChildren()
  }
}

async function loadFacets() {
  const reply = await get('api/v1/facets')
  facets = reply
  const counts = overview?.counts
  if (counts !== undefined) draw('facets', reply, () => showFacets(reply, counts))
}

/** Replies can overtake each other: only the last request counts. */
async function loadList() {
  listRequest.abort()
  const request = new AbortController()
  listRequest = request
  try {
    const list = await get('api/v1/resources', listQuery(), request.signal)
    if (request === listRequest)
      draw('list', [list.items, list.total, location.search], () => showList(list, list.overview))
  } catch (error) {
    if (request.signal.aborted) return
    if (!(error instanceof ReplyError)) throw error
    byId('list').replaceChildren()
    byId('pages').hidden = true
    drawAnew('list')
    setText('matches', `${error.message}. ${error.hint}`)
  }
}

async function loadStory() {
  const type = readAddress().story
  const query = narrowed()
  query.set('limit', String(storyLength))
  if (type !== undefined) query.set('type', type)
  const shown = String(query)
  shownStory = shown
  const story = await get('api/v1/timeline', query).catch(asNothing)
  if (shownStory !== shown) return
  if (story !== undefined) draw('story', story, () => showStory(story))
  else {
    drawAnew('story')
    byId('entries').replaceChildren()
    byId('story-empty').hidden = true
    byId('story-more').hidden = true
  }
}

/** @param {string} key */
async function loadResource(key) {
  try {
    const [resource, history] = await Promise.all([
      get(resourcePath(key)),
      get('api/v1/history', { limit: String(HISTORY_SHOWN), key }),
    ])
    if (readAddress().resource !== key) return
    const { now: _now, checkedAt, nextReconcileAt, lastReconciledAt: _at, states, ...shown } = resource
    const known = [checkedAt === undefined, nextReconcileAt === undefined, states.map(({ state }) => state)]
    draw('one', [shown, known, history, location.search], () => {
      isOneDrawn = true
      showResource(resource, history.items)
    })
    draw('check', [key, checkedAt, nextReconcileAt, states], () => showCheck(resource))
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    drawAnew('one')
    if (readAddress().resource === key) showNoResource(key, error)
  }
}

/** Undefined: the server rejected the query. The list shows why. @param {unknown} error */
function asNothing(error) {
  if (error instanceof ReplyError && error.status < 500) return undefined
  throw error
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
    if (resource === undefined) {
      await Promise.all([loadList(), loadProblems(), loadFindings(), loadStory()])
    } else await loadResource(resource)
  } catch {
    if (resource !== undefined && !isOneDrawn)
      showWaiting(resource, 'The daemon does not answer. This page appears when it does.')
    want('resources') // the next refresh reports the lost connection
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
    want('history')
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
  if (connection.how !== 'lost' && readAddress().resource !== undefined) want('one')
}, TICK_MS)
addEventListener('checked', () => want('one'))
