import { badge, code, COMPARED, foreign, h, table } from './markup.js'
import { ago } from './time.js'
import { change, view } from './view.js'

/**
 * @import { ResourceReply } from '../api/resources.ts'
 * @import { ComparedField } from '../api/side-by-side.ts'
 * @import { Shown } from './markup.js'
 */

/** With more fields, the page shows only those that differ, or the first ones if none differs. */
const FIELDS_SHOWN = 12

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
  const { fields } = resource
  if (fields.length === 0) return ''
  const { areAllFieldsShown } = view
  const differing = fields.filter(({ verdict }) => verdict === 'differs')
  const few = differing.length > 0 ? differing : fields.slice(0, FIELDS_SHOWN)
  const shown = areAllFieldsShown || fields.length <= FIELDS_SHOWN ? fields : few
  const rows = shown.map(({ field, desired, observed, verdict }) => ({
    name: verdict,
    cells: [
      code(field),
      valueOf(desired, verdict, 'ins'),
      valueOf(observed, verdict, 'del'),
      verdict === 'differs' ? badge('differs') : h`<span class="quiet">${VERDICTS[verdict]}</span>`,
    ],
  }))
  const press = () => change({ areAllFieldsShown: !areAllFieldsShown })
  const more = areAllFieldsShown ? 'Show fewer fields' : `Show all ${fields.length} fields`
  return h`<div>
    <h2>${COMPARED}</h2>
    <p class="quiet">${summaryOf(resource)}</p>
    ${table(COMPARED, ['Field', 'Manifest', 'Platform', 'Compared'], rows)}
    ${
      fields.length > FIELDS_SHOWN &&
      h`<p><button id="all-fields" class="plain" aria-expanded=${String(areAllFieldsShown)} onClick=${press}>${more}</button></p>`
    }
  </div>`
}

/** @param {ResourceReply} resource @returns {Shown} */
function summaryOf({ fields, comparison, checkedAt, conditions: { Valid } }) {
  const at = checkedAt === undefined ? 'never' : ago(checkedAt)
  const isInvalid = Valid.status === 'False'
  switch (comparison) {
    case 'read':
      return h`${isInvalid && 'Compared with the last valid manifest: '}${differWords(fields, isInvalid)}${' '}
        Read from the platform ${at}.`
    case 'read-before-start':
      return ['Not compared yet: last read ', at, ', before the daemon started.']
    case 'not-found':
      return ['Not compared: the last check, ', at, ', did not find the resource.']
    case 'never-read':
      return 'This process has not read the platform yet.'
    case 'no-manifest':
      return [
        isInvalid ? 'Not compared: the manifest is invalid.' : 'Not compared: there is no manifest.',
        checkedAt !== undefined && [' Last read from the platform ', at, '.'],
      ]
  }
}

/** @param {ResourceReply['fields']} fields @param {boolean} isContinued */
function differWords(fields, isContinued) {
  const count = (/** @type {ComparedField['verdict']} */ wanted) =>
    fields.filter(({ verdict }) => verdict === wanted).length
  const differing = count('differs')
  if (differing > 0)
    return `${differing} of ${fields.length} fields ${differing === 1 ? 'differs' : 'differ'}.`
  const [unread, hidden] = [count('never-returned'), count('not-compared')]
  const rest =
    (unread > 0 ? `; ${unread} ${unread === 1 ? 'is' : 'are'} write-only` : '') +
    (hidden > 0 ? `; ${hidden} could not be compared` : '')
  const none = unread > 0 ? 'no readable field differs' : 'no field differs'
  return `${isContinued ? none : `N${none.slice(1)}`}${rest}.`
}

/** @param {string | undefined} text @param {ComparedField['verdict']} verdict @param {'ins' | 'del'} tag */
function valueOf(text, verdict, tag) {
  if (text === undefined) return h`<span class="quiet">–</span>`
  return verdict === 'differs' ? h`<${tag}>${foreign(text)}</${tag}>` : foreign(text)
}
