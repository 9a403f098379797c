/**
 * @import { OverviewReply } from '../api/overview.ts'
 * @import { LastReading } from '../recent-events.ts'
 */

import { badge, byId, code, element, facts, fact, foreign, heading, plural, row, table } from './elements.js'
import { serviceLink } from './problem.js'
import { revisionLink } from './repository.js'
import { ago, duration } from './time.js'

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
export function showSource(overview) {
  byId('source-inside').replaceChildren(
    element('div', {}, heading(3, 'Source'), sourceFacts(overview)),
    element('div', {}, heading(3, 'Queue'), queueFacts(overview)),
    element('div', {}, heading(3, 'API budget'), ...budgets(overview)),
  )
}

/** @param {OverviewReply} overview */
function sourceFacts(overview) {
  const {
    manifestsDir,
    revision,
    revisionSince,
    lastReading,
    watchMode,
    watchMessage,
    missedChanges,
    findingCounts,
  } = overview
  const { error, warning } = findingCounts
  const isKnown = revision !== undefined && (overview.sourceProblem === undefined || hasResources(overview))
  return facts(
    fact('Directory', code(manifestsDir)),
    fact('Revision', isKnown ? revisionLink(revision.id) : 'none yet'),
    fact('Revision from', isKnown ? REVISION_WORDS[revision.from] : undefined),
    fact(
      overview.sourceProblem === undefined ? 'No other revision since' : 'It came',
      isKnown && revisionSince !== undefined ? ago(revisionSince) : undefined,
    ),
    fact('Last reading', lastReading === undefined ? 'not yet' : readingWords(lastReading)),
    fact('Problem', overview.sourceProblem === undefined ? undefined : foreign(overview.sourceProblem)),
    fact('Watching', WATCH_WORDS[watchMode]),
    fact(
      'Because',
      watchMode === 'polling' && watchMessage !== undefined ? foreign(watchMessage) : undefined,
    ),
    fact('Missed by the watcher', missedChanges > 0 ? `${missedChanges} changes` : undefined),
    fact(
      'Findings',
      error + warning === 0 ? 'none' : `${plural(error, 'error')}, ${plural(warning, 'warning')}`,
    ),
  )
}

/** @param {OverviewReply} overview */
function hasResources({ counts }) {
  return Object.values(counts).some((count) => count > 0)
}

/** @param {LastReading} reading */
function readingWords({ at, ok, durationMs }) {
  return element(
    'span',
    {},
    badge(ok ? 'done' : 'failed'),
    ' ',
    ago(at),
    `, took ${Math.max(1, Math.round(durationMs))} ms`,
  )
}

/** @param {OverviewReply} overview */
function queueFacts({ queueDepth, createLimit, startedAt, ready, standsBy }) {
  if (standsBy) return facts(fact('Daemon', 'on standby'), fact('Started', ago(startedAt)))
  return facts(
    fact(`Queued: ${QUEUE_WORDS[0]}`, String(queueDepth[0])),
    fact(`Queued: ${QUEUE_WORDS[1]}`, String(queueDepth[1])),
    fact(`Queued: ${QUEUE_WORDS[2]}`, String(queueDepth[2])),
    fact('Held creates', `${createLimit.held} (limit ${createLimit.limit} in each service)`),
    fact('Daemon', ready.ok ? 'ready' : ready.detail),
    fact('Started', ago(startedAt)),
  )
}

/** @param {OverviewReply} overview */
function budgets({ budgets: list, pauses, standsBy }) {
  const waiting = pauses.map(({ service, since, message }) =>
    element(
      'p',
      { class: 'bad-text' },
      'Service ',
      serviceLink(service),
      ' pauses since ',
      ago(since),
      ': ',
      foreign(message),
    ),
  )
  const none = standsBy ? 'It is on standby and sends no requests.' : 'No request was sent yet.'
  if (list.length === 0) return [...waiting, element('p', { class: 'quiet' }, none)]
  const rows = list.map(({ credential, used, limit, windowMs, waiting: queue, pausedForMs }) =>
    row([
      code(credential),
      meterOf(used, limit, `${used} of ${limit} in ${duration(windowMs)}`),
      String(queue),
      pausedForMs > 0 ? `for ${duration(pausedForMs)}` : 'no',
    ]),
  )
  return [...waiting, table('Request budgets', ['Credential', 'Used', 'Waiting', 'Paused'], rows)]
}

/** @param {number} value @param {number} max @param {string} text */
export function meterOf(value, max, text) {
  return element(
    'span',
    {},
    element('meter', { value: String(Math.min(value, max)), max: String(max), 'aria-label': text }),
    ` ${text}`,
  )
}
