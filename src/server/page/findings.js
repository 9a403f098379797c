import { badge, byId, element, foreign, heading } from './elements.js'
import { placeLink } from './repository.js'

/**
 * @import { FindingsReply } from '../api/findings.ts'
 * @import { Finding } from '../../kinds/finding.ts'
 */

/** For an equal mistake. */
const PLACES = 12

/** Errors first. Equal findings are one item with several places. @param {FindingsReply} reply */
export function showFindings({ items, total }) {
  const groups = [...Map.groupBy(items, mistakeOf).values()]
  byId('findings').replaceChildren(
    ...(total === 0
      ? []
      : [
          heading(3, `Findings in manifests (${total})`),
          element('ul', { class: 'findings' }, ...groups.map(groupItem)),
          total > items.length
            ? element(
                'p',
                { class: 'quiet' },
                `and ${total - items.length} more: `,
                element('a', { href: 'api/v1/findings' }, 'all of them as data'),
              )
            : '',
        ]),
  )
}

/** Ignores the index of a list item. @param {Finding} finding */
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

/** @param {Finding} finding @param {{ short?: boolean }} [how] `short`: only the line */
export function findingItem(finding, { short = false } = {}) {
  const { severity, message, hint, related } = finding
  return element(
    'li',
    { class: 'finding' },
    short
      ? undefined
      : element(
          'p',
          {},
          badge(severity),
          ' ',
          foreign(message),
          ' ',
          element('span', { class: 'quiet' }, finding.code),
        ),
    picture(finding),
    short ? undefined : element('p', {}, foreign(hint)),
    ...related.map((other) =>
      element('p', { class: 'quiet' }, placeLink(other.file, other.line), ' ', foreign(other.message)),
    ),
  )
}

/** The line with a mark, and its place. @param {Finding} finding */
function picture({ file, line, column, endColumn, lineText }) {
  const where = placeLink(file, line, column)
  if (lineText.trim() === '') return element('p', { class: 'quiet' }, where)
  // Masking and cutting shorten a line.
  const from = Math.min(column - 1, Math.max(0, lineText.length - 1))
  const to = Math.max(from + 1, Math.min(endColumn - 1, lineText.length))
  return element(
    'figure',
    {},
    element('figcaption', {}, where),
    element(
      'pre',
      { tabindex: '0', 'aria-label': `Line ${line} of ${file}` },
      element('span', { class: 'gutter', 'aria-hidden': 'true' }, `${line} `),
      lineText.slice(0, from),
      element('mark', {}, lineText.slice(from, to)),
      lineText.slice(to),
    ),
  )
}
