import { checkNow } from './act.js'
import { addressOf, readAddress } from './address-bar.js'
import { revisionLink, revisionWord, serviceLink } from './links.js'
import { badge, code, facts, fact, foreign, h, meter, plural, table, toneOf, worded } from './markup.js'
import { ago, duration } from './time.js'

/**
 * @import { OverviewReply } from '../api/overview.ts'
 * @import { Shown } from './markup.js'
 */

/** On a standby, page.css hides data that only the leader has. @param {OverviewReply} overview */
export function standing({ standsBy, leader, unconfirmed }) {
  if (!standsBy) return ''
  const holder = leader?.holder ?? 'nobody'
  const link = leader?.url === undefined ? holder : h`<a href=${leader.url}>${holder}</a>`
  const what =
    unconfirmed === undefined ? [link, ' acts.'] : `this page might be out of date: ${unconfirmed}.`
  return h`<p id="standing" role="status">This process is on standby, and ${what}</p>`
}

/** @param {OverviewReply} overview */
export function summary(overview) {
  const { verdict, counts, withoutManifest = [] } = overview
  const badges = Object.entries(counts).filter(([, count]) => count > 0)
  const pipes = withoutManifest.map(
    ({ message, listedAt }) => h`<li>${`${message} Listed `}${ago(listedAt)}.</li>`,
  )
  return h`<section id="summary" class=${verdict.level} aria-label="Summary">
    <div class="title-row">
      <h1 id="verdict" aria-live="polite">${verdict.sentence}</h1>
      <button id="check-all" class="of-acting" onClick=${() => void checkNow()}>Check all now</button>
    </div>
    <ul id="counts" aria-label="Resources by status">${badges.map(countLink)}</ul>
    <p id="of-what" class="quiet">${ofWhat(overview)}</p>
    ${pipes.length > 0 && h`<ul class="quiet" aria-label="Pipes without a manifest">${pipes}</ul>`}
  </section>`
}

/** @param {[string, number]} entry */
function countLink([status, count]) {
  const address = addressOf({ ...readAddress(), status, page: '' })
  return h`<li><a class=${`badge ${toneOf(status)}`} href=${address} data-inside>${count} ${worded(status)}</a></li>`
}

/** @param {OverviewReply} overview @returns {Shown} */
function ofWhat(overview) {
  const { revision, manifestsDir, lastLoadAt, sourceProblem } = overview
  if (revision === undefined || lastLoadAt === undefined) return `${manifestsDir} was not read yet`
  if (!isKnown(overview)) return [`${manifestsDir}, last tried `, ago(lastLoadAt)]
  const read = sourceProblem === undefined ? ', read ' : ', last tried '
  return [
    `${manifestsDir} at ${revisionWord(revision.id)} `,
    revisionLink(revision.id),
    commitWords(revision),
    read,
    ago(lastLoadAt),
  ]
}

/** @param {{ readonly commit?: { author: string, subject: string } | undefined }} revision @returns {Shown} */
export function commitWords({ commit }) {
  return (
    commit && h`<span class="commit-words"> “${foreign(commit.subject)}” by ${foreign(commit.author)}</span>`
  )
}

/** @param {OverviewReply} overview */
function isKnown({ counts, sourceProblem }) {
  return sourceProblem === undefined || Object.values(counts).some((count) => count > 0)
}

/** @satisfies {Record<OverviewReply['watchMode'], string>} */
const WATCH_WORDS = {
  recursive: 'the whole tree (recursive)',
  parent: 'the folder above it (parent)',
  polling: 'by polling: changes are found late',
  none: 'not yet',
}

/** @satisfies {Record<keyof OverviewReply['queueDepth'], string>} */
const QUEUE_WORDS = { 0: 'changes and requests', 1: 'retries', 2: 'drift checks' }

/** @satisfies {Record<NonNullable<OverviewReply['revision']>['from'], string>} */
const REVISION_WORDS = { 'git-sync': 'git-sync', git: 'Git', content: 'content: there is no Git' }

/** @param {OverviewReply} overview */
export function source(overview) {
  return h`<div id="source-inside" class="columns">
    <div><h3>Source</h3>${sourceFacts(overview)}</div>
    <div><h3>Queue</h3>${queueFacts(overview)}</div>
    <div><h3>API budget</h3>${budgets(overview)}</div>
  </div>`
}

/** @param {OverviewReply} overview */
function sourceFacts(overview) {
  const { manifestsDir, revisionSince, lastReading, sourceProblem, watchMode, watchMessage } = overview
  const { missedChanges, findingCounts } = overview
  const { error, warning } = findingCounts
  const revision = isKnown(overview) ? overview.revision : undefined
  return facts(
    fact('Directory', code(manifestsDir)),
    fact('Revision', revision === undefined ? 'none yet' : revisionLink(revision.id)),
    fact('Commit', revision && commitWords(revision)),
    fact('Revision from', revision && REVISION_WORDS[revision.from]),
    fact(
      sourceProblem === undefined ? 'No other revision since' : 'It came',
      revision && revisionSince !== undefined ? ago(revisionSince) : '',
    ),
    fact('Last reading', lastReading === undefined ? 'not yet' : readingWords(lastReading)),
    fact('Problem', sourceProblem && foreign(sourceProblem)),
    fact('Watching', WATCH_WORDS[watchMode]),
    fact('Because', watchMode === 'polling' && watchMessage && foreign(watchMessage)),
    fact('Missed by the watcher', missedChanges > 0 ? `${missedChanges} changes` : ''),
    fact(
      'Findings',
      error + warning === 0 ? 'none' : `${plural(error, 'error')}, ${plural(warning, 'warning')}`,
    ),
  )
}

/** @param {NonNullable<OverviewReply['lastReading']>} reading */
function readingWords({ at, ok, durationMs }) {
  const took = `, took ${Math.max(1, Math.round(durationMs))} ms`
  return h`<span>${badge(ok ? 'done' : 'failed')} ${ago(at)}${took}</span>`
}

/** @param {OverviewReply} overview */
function queueFacts({ queueDepth, createLimit, startedAt, ready, standsBy }) {
  const started = fact('Started', ago(startedAt))
  if (standsBy) return facts(fact('Daemon', 'on standby'), started)
  return facts(
    Object.entries(QUEUE_WORDS).map(([priority, words]) =>
      fact(`Queued: ${words}`, String(queueDepth[/** @type {0 | 1 | 2} */ (Number(priority))])),
    ),
    fact('Held creates', `${createLimit.held} (limit ${createLimit.limit} in each service)`),
    fact('Daemon', ready.ok ? 'ready' : ready.detail),
    started,
  )
}

/** @param {OverviewReply} overview @returns {Shown} */
function budgets({ budgets: list, pauses, standsBy }) {
  const waiting = pauses.map(
    ({ service, since, message }) => h`<p class="bad">
      Service ${serviceLink(service)} is paused since ${ago(since)}: ${foreign(message)}
    </p>`,
  )
  const none = standsBy ? 'This process is on standby and sends no requests.' : 'No request was sent yet.'
  if (list.length === 0) return [waiting, h`<p class="quiet">${none}</p>`]
  const rows = list.map(({ credential, used, limit, windowMs, waiting: queue, pausedForMs }) => ({
    cells: [
      code(credential),
      meter(used, limit, `${used} of ${limit} in ${duration(windowMs)}`),
      String(queue),
      pausedForMs > 0 ? `for ${duration(pausedForMs)}` : 'no',
    ],
  }))
  return [waiting, table('Request budgets', ['Credential', 'Used', 'Waiting', 'Paused'], rows)]
}
