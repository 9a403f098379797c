import { byId, element, heading } from './elements.js'
import { findingItem } from './finding-item.js'
import { placeLink } from './repository.js'

/**
 * @import { FindingsReply } from '../api/findings.ts'
 * @import { Finding } from '../../kinds/finding.ts'
 */

/** Findings that are asked for. */
export const FINDINGS_SHOWN = 100

/** Places that an equal mistake is named at. */
const PLACES = 12

/** Findings of manifests, errors first: equal ones once, with their places. @param {FindingsReply} reply */
export function showFindings({ items, total }) {
  const groups = [...Map.groupBy(items, mistakeOf).values()]
  byId('findings').replaceChildren(
    ...(total === 0
      ? []
      : [
          heading(3, `Findings in manifests (${total})`),
          element('ul', { class: 'findings' }, ...groups.map(groupItem)),
          total > items.length
            ? element('p', { class: 'quiet' }, `and ${total - items.length} more: `, allOfThem())
            : '',
        ]),
  )
}

/** Equal for equal mistakes: which item of a list it is does not matter. @param {Finding} finding */
function mistakeOf({ severity, code, message, hint }) {
  return JSON.stringify([severity, code, message.replaceAll(/\[\d+\]/g, '[]'), hint])
}

/** @param {readonly Finding[]} group */
function groupItem(group) {
  const [first, ...others] = group
  if (first === undefined) return ''
  const item = findingItem(first)
  if (others.length === 0) return item
  const places = others.slice(0, PLACES).flatMap(({ file, line }) => [' ', placeLink(file, line)])
  const rest = others.length - PLACES
  item.append(
    element(
      'p',
      { class: 'places' },
      `The same at ${others.length} more ${others.length === 1 ? 'place' : 'places'}:`,
      ...places,
      rest > 0 ? ` and ${rest} more` : '',
    ),
  )
  return item
}

function allOfThem() {
  return element('a', { href: 'api/v1/findings' }, 'all of them as data')
}
