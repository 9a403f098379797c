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
import { findingItem } from './finding-item.js'
import { placeLink, revisionLink, revisionWord } from './repository.js'
import { sinceWhen } from './time.js'

/**
 * @import { AttentionReply, Problem } from '../problems.ts'
 * @import { NextStep } from '../remedy.ts'
 * @import { Difference } from '../../kinds/difference.ts'
 * @import { Finding } from '../../kinds/finding.ts'
 */

/** Problems on the page at once; the filter of the list finds the others. */
export const PROBLEMS_SHOWN = 30

/** Of these, so many are open; of the others a line says what they are. Where there are more, one of each reason is open. */
const OPEN = 3

/** @param {readonly Problem[]} items @returns {ReadonlySet<Problem>} */
function openOf(items) {
  if (items.length <= OPEN) return new Set(items)
  const first = new Map(items.toReversed().map((item) => [item.reason ?? item.id, item]))
  return new Set(items.filter((item) => first.get(item.reason ?? item.id) === item).slice(0, OPEN))
}

/** What is not well, worst first. @param {AttentionReply} reply */
export function showProblems({ items, total }) {
  const isFiltered = narrowed().size > 0
  byId('unwell-section').hidden = total === 0 && !isFiltered
  setText(
    'unwell-title',
    !isFiltered ? 'Needs attention, worst first' : 'Needs attention, of what the filter shows',
  )
  const opened = new Set([...byId('unwell').querySelectorAll('details[open]')].map(({ id }) => id))
  const open = openOf(items)
  byId('unwell').replaceChildren(
    ...items.map((item) => (open.has(item) ? problemItem(item) : problemLine(item, opened))),
  )
  const more = total === 0 ? 'Nothing that matches needs attention.' : moreText(total - items.length)
  byId('unwell-more').hidden = more === ''
  setText('unwell-more', more)
}

/** @param {number} count */
function moreText(count) {
  return count === 0 ? '' : `and ${count} more; they are in the list below`
}

/** A cause of which only a line is seen until somebody opens it. @param {Problem} problem @param {ReadonlySet<string>} opened */
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
function problemItem(problem) {
  return element('li', { id: `problem-${problem.id}` }, problemParts(problem))
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

/** The message says the first; of several each is shown. @param {readonly Finding[]} findings */
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

/** Which service, which file, which commit; of several resources, what they have in common. @param {Problem} problem */
function origin({ count, service, file, line, revision, reason }) {
  const why = reason === undefined ? undefined : word(reason)
  return [
    why,
    // The title of several says their service.
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

/** The resources of a problem that is about several. @param {Problem} problem */
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

/** All that the create limit holds back in the service, whatever the filter shows of it: the question says how many. @param {string} [service] */
function letThroughButton(service) {
  return button(
    { id: `let-through-${service ?? ''}`, class: 'of-acting' },
    'Let this through',
    () => void letThrough(service),
  )
}

/** The page of a Service. @param {string} service its name */
export function serviceLink(service) {
  return resourceLink(`Service/${service}`, service)
}

/** What to do, each with what to copy; and a button that does it. @param {readonly NextStep[]} steps @param {Node} [act] */
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
