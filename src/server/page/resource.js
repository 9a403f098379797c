import { checkNow } from './act.js'
import { addressOf, readAddress } from './address-bar.js'
import { resourcePath } from './api.js'
import { badge, byId, button, element, fact, facts, foreign, heading, row, table, word } from './elements.js'
import { fieldSection } from './compared.js'
import { copyable } from './copy.js'
import { findingItem } from './findings.js'
import { manifestSection } from './manifest.js'
import { stateSection, stateWords } from './states.js'
import { storyItems } from './story.js'
import { nextSteps, serviceLink } from './problem.js'
import { placeLink, revisionLink } from './repository.js'
import { meterOf } from './source.js'
import { until, ago, duration, setTime, sinceWhen, timeNamed } from './time.js'

/**
 * @import { ResourceReply } from '../api/resources.ts'
 * @import { HistoryEntry } from '../../contract/history.ts'
 * @import { ErrorReply } from '../replies.ts'
 */

/** @param {ResourceReply} resource @param {readonly HistoryEntry[]} history */
export function showResource(resource, history) {
  byId('one').replaceChildren(
    back(),
    titleOf(resource),
    element(
      'p',
      { class: 'message lead' },
      foreign(resource.next.length > 0 ? resource.cause : resource.message),
    ),
    nextSteps(resource.next, actOf(resource)) ?? '',
    factsOf(resource),
    ...findingsOf(resource),
    heading(2, 'Conditions'),
    conditionTable(resource.conditions),
    ...fieldSection(resource),
    element('div', { id: 'states' }, ...stateSection(resource)),
    ...manifestSection(resource),
    heading(2, 'History'),
    history.length === 0
      ? element('p', { class: 'quiet' }, noHistory(resource))
      : element(
          'ol',
          { class: 'story' },
          ...storyItems(history, { keys: false, invalidSince: invalidSince(resource) }),
        ),
  )
}

/** A judged resource has had entries. The ledger keeps only the newest. @param {ResourceReply} resource */
function noHistory({ conditions: { Valid } }) {
  return Valid.reason === 'Unobserved' ? 'No entries yet.' : 'Older entries are no longer kept.'
}

/** @param {ResourceReply} resource */
function invalidSince({ conditions: { Valid } }) {
  return Valid.status === 'False' ? Valid.since : undefined
}

/** Updates in place the parts that every check changes. @param {ResourceReply} resource */
export function showCheck(resource) {
  const { checkedAt, nextReconcileAt } = resource
  if (checkedAt !== undefined) setTime('checked', checkedAt)
  if (checkedAt !== undefined && document.getElementById('read-at') !== null) setTime('read-at', checkedAt)
  if (nextReconcileAt !== undefined) setTime('next-check', nextReconcileAt)
  byId('states').replaceChildren(...stateSection(resource))
}

/** @param {string} key @param {ErrorReply} refused */
export function showNoResource(key, { error, hint }) {
  byId('one').replaceChildren(
    back(),
    element('h1', { id: 'one-title', tabindex: '-1' }, foreign(key)),
    element('p', {}, foreign(`${error.charAt(0).toUpperCase()}${error.slice(1)}`), '. ', foreign(hint)),
  )
}

/** Before the first reply. @param {string} key @param {string} text */
export function showWaiting(key, text) {
  byId('one').replaceChildren(
    back(),
    element('h1', { id: 'one-title', tabindex: '-1' }, foreign(key)),
    element('p', { class: 'quiet' }, text),
  )
}

function back() {
  const whole = addressOf({ ...readAddress(), resource: '' })
  return element('p', {}, element('a', { id: 'back', href: whole, 'data-inside': true }, '← All resources'))
}

/** @param {ResourceReply} resource */
function titleOf({ key, status, reason, since }) {
  return element(
    'div',
    { class: 'one-head' },
    element('h1', { id: 'one-title', tabindex: '-1' }, foreign(key)),
    button({ id: 'check-now', class: 'of-acting' }, 'Check now', () => void checkNow(key)),
    element('p', { class: 'meta' }, badge(status), word(reason), sinceWhen(since)),
  )
}

/** @param {ResourceReply} resource */
function actOf({ reason, service }) {
  if (reason !== 'CreateLimit') return undefined
  const all = addressOf({ reason, service })
  return element(
    'span',
    {},
    'The create limit blocks several resources: ',
    element('a', { href: all, 'data-inside': true }, 'see them all'),
    '.',
  )
}

/** @param {ResourceReply} resource */
function factsOf(resource) {
  const { file, line, revision, manifestRevision, service, pipeId, labels, manifest, budget } = resource
  const { checkedAt, nextReconcileAt: next } = resource
  const { organizationId, serviceId } = idsOf(manifest)
  return facts(
    fact('Manifest', file === undefined ? undefined : placeLink(file, line)),
    fact('Last changed in', revisionLink(manifestRevision)),
    fact('Revision in force', revisionLink(revision)),
    fact('Service', service === undefined || serviceId !== undefined ? undefined : serviceLink(service)),
    fact('Organization id', organizationId === undefined ? undefined : copyable(organizationId)),
    fact('Service id', serviceId === undefined ? undefined : copyable(serviceId)),
    fact('Request budget', budget === undefined ? undefined : budgetOf(budget)),
    fact('State', stateWords(resource)),
    fact(`${resource.kind} id`, pipeId === undefined ? undefined : copyable(pipeId)),
    ofActing(fact('Last check', checkedAt === undefined ? 'never' : timeNamed('checked', ago(checkedAt)))),
    ofActing(fact('Next check', next === undefined ? undefined : timeNamed('next-check', until(next)))),
    fact('Suspended until', resource.suspendedUntil),
    ...Object.entries(labels).map(([name, value]) => fact(name, foreign(value))),
    fact('As data', dataLinks(resource)),
  )
}

/** Hidden on a standby, which does not know it. @param {HTMLElement | undefined} made */
function ofActing(made) {
  made?.classList.add('of-acting')
  return made
}

/**
 * Ids of a Service.
 * @param {ResourceReply['manifest']} manifest @returns {{ organizationId?: string, serviceId?: string }}
 */
function idsOf(manifest) {
  const { kind, spec } = manifest?.document ?? {}
  if (kind !== 'Service' || typeof spec !== 'object' || spec === null || !('serviceId' in spec)) return {}
  const { organizationId, serviceId } = spec
  return typeof organizationId === 'string' && typeof serviceId === 'string'
    ? { organizationId, serviceId }
    : {}
}

/** @param {NonNullable<ResourceReply['budget']>} budget */
function budgetOf({ used, limit, windowMs, waiting, pausedForMs }) {
  const paused = pausedForMs > 0 ? `, paused for ${duration(pausedForMs)}` : ''
  const queue = waiting > 0 ? `, ${waiting} waiting` : ''
  return meterOf(used, limit, `${used} of ${limit} requests in ${duration(windowMs)}${queue}${paused}`)
}

/** @param {ResourceReply} resource */
function dataLinks({ key, manifest }) {
  const path = resourcePath(key)
  return element(
    'span',
    {},
    element('a', { href: path }, 'JSON'),
    ...(manifest === undefined ? [] : [' ', element('a', { href: `${path}/manifest` }, 'YAML')]),
  )
}

/** @param {ResourceReply} resource */
function findingsOf({ findings }) {
  if (findings.length === 0) return []
  return [
    heading(2, 'Findings in its manifest'),
    element('ul', { class: 'findings' }, ...findings.map((one) => findingItem(one))),
  ]
}

/** @param {ResourceReply['conditions']} conditions */
function conditionTable(conditions) {
  const rows = Object.entries(conditions).map(([type, { status, reason, message, since }]) =>
    row([
      element('b', {}, type),
      element(
        'span',
        { class: status === 'False' ? 'badge bad' : '' },
        status === 'False' ? 'False' : badge(status),
      ),
      word(reason),
      foreign(message),
      ago(since),
    ]),
  )
  return table('Conditions', ['Condition', 'Status', 'Reason', 'Message', 'Since'], rows)
}
