import { checkNow } from './act.js'
import { addressOf, readAddress } from './address-bar.js'
import { resourcePath } from './api.js'
import {
  badge,
  byId,
  button,
  code,
  element,
  fact,
  facts,
  foreign,
  heading,
  row,
  table,
  word,
} from './elements.js'
import { copyable } from './copy.js'
import { findingItem } from './finding-item.js'
import { manifestSection } from './manifest.js'
import { stateSection } from './states.js'
import { storyItems } from './story.js'
import { nextSteps, serviceLink } from './problem.js'
import { placeLink, revisionLink } from './repository.js'
import { meterOf } from './source.js'
import { until, ago, duration, setTime, sinceWhen } from './time.js'

/**
 * @import { ResourceReply } from '../api/resources.ts'
 * @import { ComparedField } from '../api/side-by-side.ts'
 * @import { HistoryEntry } from '../../contract/history.ts'
 * @import { ReplyError } from './api.js'
 */

/** Fields that are the same are folded away when there are more than this. */
const FIELDS_SHOWN = 12

let allFields = false

/** All that is known of one resource. @param {ResourceReply} resource @param {readonly HistoryEntry[]} history */
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
    element('div', { id: 'states' }, ...stateSection(resource.states)),
    ...manifestSection(resource),
    heading(2, 'History'),
    history.length === 0
      ? element('p', { class: 'quiet' }, 'Nothing yet.')
      : element('ol', { class: 'story' }, ...storyItems(history, { keys: false })),
  )
}

/** What each check changes, where nothing else is new: it is brought up to date in place. @param {ResourceReply} resource */
export function showCheck({ checkedAt, nextReconcileAt, states }) {
  if (checkedAt !== undefined) setTime('checked', checkedAt)
  if (checkedAt !== undefined && document.getElementById('read-at') !== null) setTime('read-at', checkedAt)
  if (nextReconcileAt !== undefined) setTime('next-check', nextReconcileAt)
  byId('states').replaceChildren(...stateSection(states))
}

/** It is not, or no longer, there. @param {string} key @param {ReplyError} error */
export function showNoResource(key, error) {
  byId('one').replaceChildren(
    back(),
    element('h1', { id: 'one-title', tabindex: '-1' }, foreign(key)),
    element('p', {}, foreign(error.message), '. ', foreign(error.hint)),
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
    button({ id: 'check-now' }, 'Check now', () => void checkNow(key)),
    element('p', { class: 'meta' }, badge(status), word(reason), sinceWhen(since)),
  )
}

/** @param {ResourceReply} resource */
function actOf({ reason }) {
  if (reason !== 'CreateLimit') return undefined
  const all = addressOf({ reason })
  return element(
    'span',
    {},
    'The create limit holds back several at once: ',
    element('a', { href: all, 'data-inside': true }, 'see them all'),
    '.',
  )
}

/** @param {ResourceReply} resource */
function factsOf(resource) {
  const { file, line, revision, manifestRevision, service, state, pipeId, labels, manifest, budget } =
    resource
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
    fact('State', state === undefined ? undefined : foreign(state)),
    fact('Pipe id', pipeId === undefined ? undefined : copyable(pipeId)),
    fact('Last check', checkedAt === undefined ? 'never' : named('checked', ago(checkedAt))),
    fact('Next check', next === undefined ? undefined : named('next-check', until(next))),
    fact('Suspended until', resource.suspendedUntil),
    ...Object.entries(labels).map(([name, value]) => fact(name, foreign(value))),
    fact('As data', dataLinks(resource)),
  )
}

/** @param {string} id @param {HTMLElement} made */
function named(id, made) {
  made.id = id
  return made
}

/** What only a Service has. @param {ResourceReply['manifest']} manifest @returns {{ organizationId?: string, serviceId?: string }} */
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

/** @satisfies {Record<ComparedField['verdict'], string>} */
const VERDICTS = {
  same: 'same',
  differs: 'differs',
  'never-returned': 'write-only',
  'not-asked-for': 'not in the manifest',
  'not-seen': 'not read',
  'not-compared': 'not compared',
}

/** @param {ResourceReply} resource */
function fieldSection(resource) {
  return resource.fields.length === 0 ? [] : [comparison(resource)]
}

/** @param {ResourceReply} resource @returns {HTMLElement} */
function comparison(resource) {
  const { fields } = resource
  const differing = fields.filter(({ verdict }) => verdict === 'differs')
  const shown =
    allFields || fields.length <= FIELDS_SHOWN
      ? fields
      : differing.length > 0
        ? differing
        : fields.slice(0, FIELDS_SHOWN)
  const section = element('div', {})
  const rows = shown.map(({ field, desired, observed, verdict }) =>
    row(
      [
        code(field),
        shownValue(desired, verdict, 'ins'),
        shownValue(observed, verdict, 'del'),
        verdict === 'differs' ? badge('differs') : element('span', { class: 'quiet' }, VERDICTS[verdict]),
      ],
      { class: verdict },
    ),
  )
  section.append(
    heading(2, 'Desired against observed'),
    element('p', { class: 'quiet' }, ...summaryOf(resource)),
    table('Desired against observed', ['Field', 'Manifest', 'Platform', 'Compared'], rows, {
      class: 'fields',
    }),
  )
  if (fields.length > FIELDS_SHOWN) {
    const text = allFields ? 'Show fewer fields' : `Show all ${fields.length} fields`
    const press = button({ id: 'all-fields', 'aria-expanded': String(allFields) }, text, () => {
      allFields = !allFields
      section.replaceWith(comparison(resource))
      byId('all-fields').focus()
    })
    section.append(element('p', {}, press))
  }
  return section
}

/** What was not compared is not said to be as it should be; and of what was, when it was read. @param {ResourceReply} resource */
function summaryOf({ fields, comparison: is, checkedAt, conditions: { Valid } }) {
  const at = checkedAt === undefined ? 'never' : named('read-at', ago(checkedAt))
  const isInvalid = Valid.status === 'False'
  switch (is) {
    case 'read':
      return [
        isInvalid ? 'Compared with the last valid manifest: ' : '',
        differWords(fields, isInvalid),
        ' Read from the platform ',
        at,
        '.',
      ]
    case 'read-before-start':
      return ['Not compared yet: last read ', at, ', before the daemon started.']
    case 'not-found':
      return ['Not compared: it was not found at the last check, ', at, '.']
    case 'never-read':
      return ['The platform has not been read yet.']
    case 'no-manifest':
      return [
        isInvalid ? 'Not compared: the manifest is invalid.' : 'Not compared: there is no manifest.',
        ...(checkedAt === undefined ? [] : [' Last read from the platform ', at, '.']),
      ]
  }
}

/** @param {ResourceReply['fields']} fields @param {boolean} goesOn whether it stands within a sentence */
function differWords(fields, goesOn) {
  const count = (/** @type {ComparedField['verdict']} */ wanted) =>
    fields.filter(({ verdict }) => verdict === wanted).length
  const differing = count('differs')
  if (differing > 0)
    return `${differing} of ${fields.length} fields ${differing === 1 ? 'differs' : 'differ'}.`
  const [unread, hidden] = [count('never-returned'), count('not-compared')]
  const rest = [
    unread > 0 ? `; ${unread} ${unread === 1 ? 'is' : 'are'} write-only` : '',
    hidden > 0 ? `; ${hidden} could not be compared` : '',
  ].join('')
  const none = unread > 0 ? 'no field that can be read back differs' : 'no field differs'
  return `${goesOn ? none : `N${none.slice(1)}`}${rest}.`
}

/** @param {string | undefined} text @param {ComparedField['verdict']} verdict @param {'ins' | 'del'} tag */
function shownValue(text, verdict, tag) {
  if (text === undefined) return element('span', { class: 'quiet' }, '–')
  return verdict === 'differs' ? element(tag, {}, foreign(text)) : foreign(text)
}
