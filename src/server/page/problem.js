import { addressOf } from './address-bar.js'
import { copyable } from './copy.js'
import { badge, byId, code, element, foreign, place, revisionOf, setText, toneOf, word } from './elements.js'
import { findingItem } from './finding-item.js'
import { sinceWhen } from './time.js'

/**
 * @import { AttentionReply, Trouble } from '../problems.ts'
 * @import { NextStep } from '../remedy.ts'
 * @import { Difference } from '../../kinds/difference.ts'
 * @import { Finding } from '../../kinds/finding.ts'
 */

/** Troubles on the page at once; the filter of the list finds the others. */
export const TROUBLES_SHOWN = 30

/** What is not well, worst first. @param {AttentionReply} reply */
export function showTroubles({ items, total }) {
  byId('unwell-section').hidden = total === 0
  byId('unwell').replaceChildren(...items.map(troubleItem))
  byId('unwell-more').hidden = total <= items.length
  setText('unwell-more', `and ${total - items.length} more; they are in the list below`)
}

/** @param {Trouble} trouble */
function troubleItem(trouble) {
  const { status, what, message, since, differences, findings, next } = trouble
  return element(
    'li',
    { class: `card ${toneOf(status)}` },
    element(
      'div',
      { class: 'about' },
      element('h3', {}, badge(status), ' ', titleOf(trouble), element('span', { class: 'what' }, ` ${what}`)),
      element('p', { class: 'meta' }, since === undefined ? undefined : sinceWhen(since), ...origin(trouble)),
      element('p', { class: 'message' }, foreign(message)),
      differences.length === 0 ? undefined : differenceList(differences),
      findingList(findings),
      affected(trouble),
    ),
    nextSteps(next),
  )
}

/** The message says the first; of several each is shown. @param {readonly Finding[]} findings */
function findingList(findings) {
  if (findings.length === 0) return undefined
  const short = findings.length === 1
  return element('ul', { class: 'findings' }, ...findings.map((one) => findingItem(one, { short })))
}

/** @param {Trouble} trouble */
function titleOf({ keys: [key], count, status, reason, service, file, line }) {
  if (count === 1 && key !== undefined) return resourceLink(key)
  if (count === 0) return element('span', { class: 'key' }, file === undefined ? '' : place(file, line))
  const whose = service === undefined ? '' : ` of service ${service}`
  return element(
    'a',
    { class: 'key', href: `${addressOf({ status, reason, service })}#resources`, 'data-inside': true },
    `${count} resources${whose}`,
  )
}

/** Which service, which file, which commit. @param {Trouble} trouble */
function origin({ count, service, file, line, revision, reason }) {
  const why = reason === undefined ? undefined : word(reason)
  if (count > 1) return [why]
  return [
    why,
    service === undefined ? undefined : element('span', {}, 'service ', foreign(service)),
    file === undefined || count === 0 ? undefined : element('span', {}, code(place(file, line))),
    revision === undefined || revision === ''
      ? undefined
      : element('span', {}, 'commit ', revisionOf(revision)),
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

/** The resources of a trouble that is about several. @param {Trouble} trouble */
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

/** What to do, each with what to copy. @param {readonly NextStep[]} steps */
export function nextSteps(steps) {
  if (steps.length === 0) return undefined
  return element(
    'div',
    { class: 'next' },
    element('p', { class: 'next-title' }, 'Next step'),
    element(
      'ul',
      {},
      ...steps.map(({ text, copy }) =>
        element('li', {}, foreign(text), ' ', copy === undefined ? undefined : copyable(copy)),
      ),
    ),
  )
}

/** @param {string} key */
export function resourceLink(key) {
  const link = element(
    'a',
    { class: 'key', href: addressOf({ resource: key }), 'data-inside': true },
    foreign(key),
  )
  link.dataset.resource = key
  return link
}
