/** @import { Finding } from '../../kinds/finding.ts' */

import { badge, element, foreign } from './elements.js'
import { placeLink } from './repository.js'

/** A finding with the picture of its line. @param {Finding} finding @param {{ short?: boolean }} [how] */
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

/** The line, what is meant in it marked, and where it stands. @param {Finding} finding */
function picture({ file, line, column, endColumn, lineText }) {
  const where = placeLink(file, line, column)
  if (lineText.trim() === '') return element('p', { class: 'quiet' }, where)
  // Masking and cutting shorten a line; what is marked may then lie beyond its end.
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
