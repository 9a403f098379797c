import { dialog } from './act.js'
import { followLinks, readAddress } from './address-bar.js'
import { get } from './api.js'
import { filter, leaveEmptyPage, listQuery, onKey, resources, showSearch } from './list.js'
import { keepFresh } from './live.js'
import { h } from './markup.js'
import { findingsOf, problems } from './problems.js'
import { setRepository } from './links.js'
import { resourcePage } from './resource.js'
import { story } from './story.js'
import { source, standing, summary } from './summary.js'
import { ago, exactly, setServerTime, toServerTime } from './time.js'
import { render } from 'preact'
import { change, setDrawing, view } from './view.js'

/**
 * @import { OverviewReply } from '../api/overview.ts'
 * @import { Connection } from './live.js'
 * @import { Shown } from './markup.js'
 */

const TICK_MS = 5_000

const ROOT = /** @type {HTMLElement} */ (document.getElementById('page'))

/** Version of the daemon that served this page. @type {string | undefined} */
let version

let request = new AbortController()

/** Replies can overtake each other, so only the newest request counts. Earlier callers also wait for the newest. */
let newest = Promise.resolve()

function refresh() {
  newest = refreshNow()
  return newest
}

/** @returns {Promise<void>} */
async function refreshNow() {
  request.abort()
  const own = new AbortController()
  request = own
  const { resource } = readAddress()
  const query = resource === undefined ? listQuery() : new URLSearchParams({ resource })
  if (resource === undefined) query.set('entries', String(view.entries))
  try {
    const { overview, refused, whole, one } = await get('api/v1/page', query, own.signal)
    if (request === own && whole !== undefined) leaveEmptyPage(whole.list)
    if (request !== own) return await newest
    version ??= overview.version
    setServerTime(overview.now)
    setRepository(overview)
    const isFirst = view.overview === undefined
    change({ overview, refused, ...(resource === undefined ? { whole } : { one }), isUnanswered: false })
    if (isFirst) scrollToHash()
  } catch (error) {
    if (request === own) throw error
    return newest
  }
}

/** @type {Readonly<Record<Connection['how'] | 'none', readonly [name: string, text: string]>>} */
const CONNECTION = {
  live: ['live', 'live'],
  polled: ['waiting', 'no live updates: refreshed every 30 s'],
  lost: ['lost', 'connection lost'],
  none: ['waiting', 'connecting…'],
}

function draw() {
  const { overview, connection } = view
  const { resource } = readAddress()
  const { how, asOf } = connection
  const isLost = how === 'lost' && asOf !== undefined
  const [name, text] = CONNECTION[how === 'lost' && !isLost ? 'none' : how]
  document.body.classList.toggle('old', isLost)
  document.body.classList.toggle('stands-by', overview?.standsBy === true)
  const mark = overview?.verdict.level === 'unwell' ? '● ' : ''
  document.title = `${mark}${resource === undefined ? '' : `${resource} · `}Pipewright`
  const page = h`<a class="skip" href="#main">Skip to the content</a>
    <header>
      <p class="name"><a href="./" data-inside>Pipewright</a> <span id="version" class="quiet">${versionOf(overview)}</span></p>
      ${
        overview &&
        resource === undefined &&
        h`<nav aria-label="On this page">
        <a href="#resources">Resources</a> <a href="#story">What changed</a> <a href="#source">Source</a>
      </nav>`
      }
      <p id="connection" class=${name} role="status">${text}</p>
    </header>
    <div role="region" aria-label="About this page">
      ${
        isLost &&
        h`<div id="lost" class="banner bad">
        Connection lost. This page shows the state of ${exactly(asOf)} (${ago(toServerTime(asOf))}). Trying again…
      </div>`
      }
      ${
        overview?.sandbox === true &&
        h`<p class="banner warn">
        Sandbox: everything here is made up. No platform is asked, and nothing real is created.
      </p>`
      }
    </div>
    <main id="main" tabindex="-1">
      ${overview && standing(overview)}
      ${resource === undefined ? wholePage(overview) : resourcePage(resource)}
    </main>
    <footer>
      ${
        overview &&
        h`<p class="quiet">
        For machines: <a href="api/v1/overview">overview</a>, <a href="api/v1/attention">attention</a>,${' '}
        <a href="api/v1/resources?limit=100">resources</a>, <a href="api/v1/timeline">timeline</a>,${' '}
        <a href="metrics">metrics</a>
      </p>`
      }
    </footer>
    ${dialog()}
    ${view.told !== '' && h`<p id="told" class="banner" role="status">${view.told}</p>`}
    <p id="announce" class="unseen" role="status">${view.announced}</p>`
  render(page, ROOT)
  showSearch()
}

/** @param {OverviewReply | undefined} overview @returns {Shown} */
function versionOf(overview) {
  if (overview === undefined || overview.version === version) return version
  return [`${overview.version}: `, h`<a href="">load the new page</a>`]
}

/** @param {OverviewReply | undefined} overview @returns {Shown} */
function wholePage(overview) {
  if (overview === undefined) return h`<section id="summary"><h1>Loading…</h1></section>`
  const { refused } = view
  const whole = refused === undefined ? view.whole : undefined
  return h`<div id="whole">
    ${summary(overview)}
    ${filter(overview, view.whole?.facets)}
    ${whole && problems(whole.attention)}
    ${resources(whole?.list, overview)}
    ${story(whole?.timeline)}
    <section id="source" aria-labelledby="source-title">
      <h2 id="source-title">Source, queue and API budget</h2>
      ${source(overview)}
      <div id="findings">${whole && findingsOf(whole.findings)}</div>
    </section>
  </div>`
}

function scrollToHash() {
  if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
}

let opened = readAddress().resource

/** Scroll position and opened key of the list, restored on the way back. */
let leftAt = { top: 0, key: '' }

async function onAddress() {
  const { resource } = readAddress()
  const before = opened
  opened = resource
  if (before === undefined && resource !== undefined) leftAt = { top: scrollY, key: resource }
  change({
    isUnanswered: false,
    refused: undefined,
    areAllFieldsShown: before === resource && view.areAllFieldsShown,
  })
  if (resource !== undefined && before !== resource) {
    scrollTo(0, 0)
    document.getElementById('one-title')?.focus({ preventScroll: true })
  } else if (resource === undefined && before !== undefined) {
    scrollTo(0, leftAt.top)
    document.getElementById(`row-${leftAt.key}`)?.focus({ preventScroll: true })
  }
  try {
    await refresh()
    if (resource === undefined && before === undefined) scrollToHash()
  } catch {
    change({ isUnanswered: true })
    want() // the next refresh reports the lost connection
  }
}

document.getElementById('incomplete')?.remove()
setDrawing(() => {
  try {
    draw()
  } catch (error) {
    reportError(error) // a bug, not a lost connection
  }
})
addEventListener('addresschange', () => void onAddress())
addEventListener('keydown', onKey)
followLinks()
change({})
const want = keepFresh(refresh, (connection) => change({ connection }))
setInterval(() => {
  change({})
  // Refreshes an open resource, because a check without a change causes no event.
  if (view.connection.how !== 'lost' && readAddress().resource !== undefined) want()
}, TICK_MS)
addEventListener('checked', want)
