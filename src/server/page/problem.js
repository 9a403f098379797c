import { copyable } from './copy.js'
import { letThrough } from './act.js'
import { addressOf, narrowed, readAddress } from './address-bar.js'
import {
  badge,
  button,
  byId,
  code,
  element,
  foreign,
  place,
  prose,
  setText,
  toneOf,
  word,
} from './elements.js'
import { findingItem } from './findings.js'
import { placeLink, revisionLink, revisionWord } from './repository.js'
import { sinceWhen } from './time.js'

/**
 * @import { AttentionReply, Problem } from '../problems.ts'
 * @import { NextStep } from '../remedy.ts'
 * @import { Difference } from '../../kinds/difference.ts'
 * @import { Finding } from '../../kinds/finding.ts'
 */

/** The others are one line each. With more problems, each reason has at most one open. */
const OPEN = 3

/** @param {readonly Problem[]} items @returns {ReadonlySet<Problem>} */
function openOf(items) {
  if (items.length <= OPEN) return new Set(items)
  const first = new Map(items.toReversed().map((item) => [item.reason ?? item.id, item]))
  return new Set(items.filter((item) => first.get(item.reason ?? item.id) === item).slice(0, OPEN))
}

/** @param {AttentionReply} reply */
export function showProblems({ items, total }) {
  const isFiltered = narrowed().size > 0
  byId('unwell-section').hidden = total === 0 && !isFiltered
  setText('unwell-title', !isFiltered ? 'Needs attention, worst first' : 'Needs attention, within the filter')
  const opened = new Set([...byId('unwell').querySelectorAll('details[open]')].map(({ id }) => id))
  const open = openOf(items)
  byId('unwell').replaceChildren(
    ...items.map((item) =>
      open.has(item)
        ? element('li', { id: `problem-${item.id}` }, problemParts(item))
        : problemLine(item, opened),
    ),
  )
  const rest = total - items.length
  byId('attention-more').hidden = total > 0 && rest === 0
  setText(
    'attention-more',
    total === 0 ? 'No matching resource needs attention.' : `and ${rest} more; they are in the list below`,
  )
}

/** A closed problem. @param {Problem} problem @param {ReadonlySet<string>} opened */
function problemLine(problem, opened) {
  const { id, status, what, keys, count, file, line } = problem
  const about = count > 1 ? `${count} resources, each:` : (keys[0] ?? place(file, line))
  const details = element(
    'details',
    { id: `cause-${id}` },
    element('summary', {}, badge(status), ' ', element('b', {}, foreign(about)), ` ${what}`),
    problemParts(problem),
  )
  if (opened.has(details.id)) details.setAttribute('open', '')
  return element('li', { class: `card-line ${toneOf(status)}` }, details)
}

/** @param {Problem} problem */
function problemParts(problem) {
  const { status, reason, what, message, since, differences, findings, next } = problem
  return element(
    'div',
    { class: `card ${toneOf(status)}` },
    element(
      'div',
      { class: 'about' },
      element('h3', {}, badge(status), ' ', titleOf(problem), element('span', { class: 'what' }, ` ${what}`)),
      element('p', { class: 'meta' }, since === undefined ? undefined : sinceWhen(since), ...origin(problem)),
      element('p', { class: 'message' }, foreign(message)),
      differences.length === 0 ? undefined : differenceList(differences),
      findingList(findings),
      affected(problem),
    ),
    nextSteps(next, reason === 'CreateLimit' ? letThroughButton(problem.service) : undefined),
  )
}

/** The message contains a single finding. @param {readonly Finding[]} findings */
function findingList(findings) {
  if (findings.length === 0) return undefined
  const short = findings.length === 1
  return element('ul', { class: 'findings' }, ...findings.map((one) => findingItem(one, { short })))
}

/** @param {Problem} problem */
function titleOf({ keys: [key], count, status, reason, service, file, line }) {
  if (count === 1 && key !== undefined) return resourceLink(key)
  if (count === 0) return element('span', { class: 'key' }, file === undefined ? '' : placeLink(file, line))
  const whose = service === undefined ? '' : ` of service ${service}`
  return element(
    'a',
    {
      class: 'key',
      href: `${addressOf({ ...readAddress(), status, reason, service, page: '' })}#resources`,
      'data-inside': true,
    },
    `${count} resources${whose}, each:`,
  )
}

/** Common service, file and commit. @param {Problem} problem */
function origin({ count, service, file, line, revision, reason }) {
  const why = reason === undefined ? undefined : word(reason)
  return [
    why,
    // The title of a group has the service.
    service === undefined || count > 1 ? undefined : element('span', {}, 'service ', serviceLink(service)),
    file === undefined || count === 0 ? undefined : element('span', {}, placeLink(file, line)),
    revision === undefined || revision === ''
      ? undefined
      : element('span', {}, `${revisionWord(revision)} `, revisionLink(revision)),
  ].filter((one) => one !== undefined)
}

/** @param {readonly Difference[]} differences */
function differenceList(differences) {
  return element(
    'ul',
    { class: 'differences' },
    ...differences
      .slice(0, 5)
      .map(({ field, desired, observed }) =>
        element(
          'li',
          {},
          code(field),
          ': the manifest asks for ',
          element('ins', {}, foreign(desired)),
          ', the platform has ',
          element('del', {}, foreign(observed)),
        ),
      ),
  )
}

/** Resources of a group. @param {Problem} problem */
function affected({ keys, count }) {
  if (count < 2) return undefined
  const rest = count - keys.length
  return element(
    'p',
    { class: 'affected' },
    ...keys.flatMap((key) => [resourceLink(key), ' ']),
    rest > 0 ? `and ${rest} more` : undefined,
  )
}

/**
 * Allows all blocked creates of the service, regardless of the filter: the dialog shows their number.
 * @param {string} [service]
 */
function letThroughButton(service) {
  return button(
    { id: `let-through-${service ?? ''}`, class: 'of-acting' },
    'Let this through',
    () => void letThrough(service),
  )
}

/** @param {string} service its name */
export function serviceLink(service) {
  return resourceLink(`Service/${service}`, service)
}

/** @param {readonly NextStep[]} steps @param {Node} [act] button for the step */
export function nextSteps(steps, act) {
  if (steps.length === 0) return undefined
  return element(
    'div',
    { class: 'next' },
    element('p', { class: 'next-title' }, 'Next step'),
    element(
      'ul',
      {},
      ...steps.map(({ text, copy }) =>
        element('li', {}, prose(text), ' ', copy === undefined ? undefined : copyable(copy)),
      ),
    ),
    act === undefined ? undefined : element('p', {}, act),
  )
}

/** @param {string} key @param {string} [text] */
export function resourceLink(key, text = key) {
  const link = element(
    'a',
    { class: 'key', href: addressOf({ resource: key }), 'data-inside': true },
    foreign(text),
  )
  link.dataset.resource = key
  return link
}
