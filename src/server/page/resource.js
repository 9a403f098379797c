import { checkNow } from './act.js'
import { addressOf, readAddress } from './address-bar.js'
import { fieldSection } from './manifest.js'
import { copyable } from './copy.js'
import { placeLink, revisionLink, serviceLink } from './links.js'
import { manifestSection, membersOf } from './manifest.js'
import { badge, fact, facts, foreign, h, meter, table, word } from './markup.js'
import { findingItem, nextSteps } from './problems.js'
import { stateSection, stateWords } from './states.js'
import { storyItems } from './story.js'
import { ago, duration, sinceWhen, until } from './time.js'
import { view } from './view.js'

/**
 * @import { PageReply } from '../api/page.ts'
 * @import { ResourceReply } from '../api/resources.ts'
 * @import { Shown } from './markup.js'
 */

/** @param {string} key */
export function resourcePage(key) {
  const { one, refused, isUnanswered } = view
  const back = addressOf({ ...readAddress(), resource: '' })
  const known = one?.resource.key === key ? one : undefined
  const missing = refused && `${refused.error.charAt(0).toUpperCase()}${refused.error.slice(1)}`
  const waiting = isUnanswered ? 'The daemon does not answer. This page appears when it answers.' : 'Loading…'
  return h`<article id="one" key=${key} aria-labelledby="one-title">
    <p><a id="back" href=${back} data-inside>← All resources</a></p>
    <div class="title-row">
      <h1 id="one-title" tabindex="-1">${foreign(key)}</h1>
      ${known && h`<button id="check-now" class="of-acting" onClick=${() => void checkNow(key)}>Check now</button>`}
    </div>
    ${
      known
        ? details(known)
        : refused
          ? h`<p>${foreign(String(missing))}. ${foreign(refused.hint)}</p>`
          : h`<p class="quiet">${waiting}</p>`
    }
  </article>`
}

/** @param {NonNullable<PageReply['one']>} one @returns {Shown} */
function details({ resource, history: { items } }) {
  const { status, reason, since, next, cause, message, findings, conditions } = resource
  const invalidSince = conditions.Valid.status === 'False' ? conditions.Valid.since : undefined
  // An observed resource has had entries, but the ledger keeps only the newest ones.
  const none =
    conditions.Valid.reason === 'Unobserved' ? 'No entries yet.' : 'Older entries are no longer kept.'
  return h`<p class="meta">${badge(status)}${word(reason)}${sinceWhen(since)}</p>
    <p class="message lead">${foreign(next.length > 0 ? cause : message)}</p>
    ${nextSteps(next, seeAll(resource))}
    ${factsOf(resource)}
    ${
      findings.length > 0 &&
      h`<h2>Findings in its manifest</h2><ul class="findings">${findings.map((one) => findingItem(one))}</ul>`
    }
    <h2>Conditions</h2>
    ${conditionTable(conditions)}
    ${fieldSection(resource)}
    ${stateSection(resource)}
    ${manifestSection(resource)}
    <h2>History</h2>
    ${
      items.length === 0
        ? h`<p class="quiet">${none}</p>`
        : h`<ol class="story">${storyItems(items, { keys: false, invalidSince })}</ol>`
    }`
}

/** @param {ResourceReply} resource */
function seeAll({ reason, service }) {
  if (reason !== 'CreateLimit') return ''
  const all = addressOf({ reason, service })
  return h`<span>The create limit blocks several resources: <a href=${all} data-inside>see them all</a>.</span>`
}

/** @param {ResourceReply} resource */
function factsOf(resource) {
  const { kind, file, line, revision, manifestRevision, service, pipeId, labels, manifest, budget } = resource
  const { checkedAt, appliedAt, nextReconcileAt: next } = resource
  const spec = kind === 'Service' ? membersOf(manifest?.document['spec']) : []
  const { organizationId, serviceId } = Object.fromEntries(spec)
  return facts(
    fact('Manifest', file && placeLink(file, line)),
    fact('First read at', revisionLink(manifestRevision)),
    fact('Revision in force', revisionLink(revision)),
    fact('Service', service !== undefined && serviceId === undefined && serviceLink(service)),
    fact('Organization id', typeof organizationId === 'string' && copyable(organizationId)),
    fact('Service id', typeof serviceId === 'string' && copyable(serviceId)),
    fact('Request budget', budget && budgetOf(budget)),
    fact('State', stateWords(resource)),
    fact(`${kind} id`, pipeId && copyable(pipeId)),
    // `of-acting`: hidden on a standby, because a standby makes no checks.
    appliedAt !== undefined && checkedAt === undefined
      ? fact('Last applied', ago(appliedAt), 'of-acting')
      : fact('Last check', checkedAt === undefined ? 'never' : ago(checkedAt, 'checked'), 'of-acting'),
    fact('Next check', next !== undefined && until(next), 'of-acting'),
    fact('Suspended until', resource.suspendedUntil),
    Object.entries(labels).map(([name, value]) => fact(name, foreign(value))),
    fact('As data', dataLinks(resource)),
  )
}

/** @param {NonNullable<ResourceReply['budget']>} budget */
function budgetOf({ used, limit, windowMs, waiting, pausedForMs }) {
  const paused = pausedForMs > 0 ? `, paused for ${duration(pausedForMs)}` : ''
  const queue = waiting > 0 ? `, ${waiting} waiting` : ''
  return meter(used, limit, `${used} of ${limit} requests in ${duration(windowMs)}${queue}${paused}`)
}

/** @param {ResourceReply} resource */
function dataLinks({ kind, name, manifest }) {
  const path = `api/v1/resources/${encodeURIComponent(kind)}/${encodeURIComponent(name)}`
  const yaml = manifest && [' ', h`<a href=${`${path}/manifest`}>YAML</a>`]
  return h`<span><a href=${path}>JSON</a>${yaml}</span>`
}

/** @param {ResourceReply['conditions']} conditions */
function conditionTable(conditions) {
  const rows = Object.entries(conditions).map(([type, { status, reason, message, since }]) => ({
    cells: [
      h`<b>${type}</b>`,
      status === 'False' ? h`<span class="badge bad">False</span>` : badge(status),
      word(reason),
      foreign(message),
      ago(since),
    ],
  }))
  return table('Conditions', ['Condition', 'Status', 'Reason', 'Message', 'Since'], rows)
}
