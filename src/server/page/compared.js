import { badge, button, byId, code, element, foreign, heading, row, table } from './elements.js'
import { ago, timeNamed } from './time.js'

/**
 * @import { ResourceReply } from '../api/resources.ts'
 * @import { ComparedField } from '../api/side-by-side.ts'
 */

/** With more fields, equal fields are hidden. */
const FIELDS_SHOWN = 12

let allFields = false

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
export function fieldSection(resource) {
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

/** The result and the time of the read. @param {ResourceReply} resource */
function summaryOf({ fields, comparison: is, checkedAt, conditions: { Valid } }) {
  const at = checkedAt === undefined ? 'never' : timeNamed('read-at', ago(checkedAt))
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
      return ['This process has not read the platform yet.']
    case 'no-manifest':
      return [
        isInvalid ? 'Not compared: the manifest is invalid.' : 'Not compared: there is no manifest.',
        ...(checkedAt === undefined ? [] : [' Last read from the platform ', at, '.']),
      ]
  }
}

/** @param {ResourceReply['fields']} fields @param {boolean} isContinued whether it continues a sentence */
function differWords(fields, isContinued) {
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
  return `${isContinued ? none : `N${none.slice(1)}`}${rest}.`
}

/** @param {string | undefined} text @param {ComparedField['verdict']} verdict @param {'ins' | 'del'} tag */
function shownValue(text, verdict, tag) {
  if (text === undefined) return element('span', { class: 'quiet' }, '–')
  return verdict === 'differs' ? element(tag, {}, foreign(text)) : foreign(text)
}
