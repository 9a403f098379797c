import { addressOf } from './address-bar.js'
import { copyable } from './copy.js'
import { keyLinks } from './links.js'
import { COMPARED, badge, code, fact, facts, foreign, h, prose, table, word } from './markup.js'
import { ago, serverTime } from './time.js'
import { change, view } from './view.js'

/**
 * @import { ShownRequest } from '../parts.ts'
 * @import { ResourceReply, Sending } from '../api/resources.ts'
 * @import { ComparedField } from '../api/side-by-side.ts'
 * @import { Shown } from './markup.js'
 */

const HOUR_MS = 3_600_000
const WEEK_MS = 7 * 24 * HOUR_MS

/** @param {ResourceReply} resource */
export function manifestSection({ manifest, sending, file, suspendedUntil }) {
  if (manifest === undefined) return ''
  const { document, request, needs, neededBy, neededByCount } = manifest
  const policy = membersOf(document['policy'])
  const others = neededByCount - neededBy.length
  const users = [keyLinks(neededBy), others > 0 && othersOf(document, others)]
  const connections = [
    fact('Needs', needs.length > 0 && keyLinks(needs)),
    fact('Needed by', neededByCount > 0 && users),
  ]
  return [
    needs.length + neededByCount > 0 && h`<h2>Connections</h2>${facts(...connections)}`,
    document['kind'] !== 'Service' && h`<h2>Policy</h2>${policyOf(policy)}`,
    document['kind'] !== 'Service' && suspendedUntil === undefined && pause(policy, file),
    request && sending && requestOf(request, sending),
  ]
}

/** @param {unknown} value @returns {readonly (readonly [string, unknown])[]} */
export function membersOf(value) {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

/**
 * For a Service, the text links to the list of its resources.
 * @param {Readonly<Record<string, unknown>>} document @param {number} count
 */
function othersOf({ kind, metadata }, count) {
  const text = `and ${count} more`
  const name = membersOf(metadata).find(([member]) => member === 'name')?.[1]
  if (kind !== 'Service' || typeof name !== 'string') return text
  return h`<a href=${addressOf({ service: name })} data-inside>${text}</a>`
}

/** @param {ReturnType<typeof membersOf>} policy */
function policyOf(policy) {
  if (policy.length === 0) return h`<p class="quiet">The manifest has no policy: the defaults apply.</p>`
  return facts(
    policy.map(([name, value]) =>
      fact(name, code(typeof value === 'string' ? value : JSON.stringify(value))),
    ),
  )
}

/** Shows the line to commit. @param {ReturnType<typeof membersOf>} policy @param {string | undefined} file */
function pause(policy, file = 'the manifest') {
  const end = new Date(Math.ceil((serverTime() + WEEK_MS) / HOUR_MS) * HOUR_MS).toISOString()
  const line = `suspend: { reason: Paused for a week, until: ${end.replace('.000', '')} }`
  const isReplaced = policy.some(([name]) => name === 'suspend')
  const how =
    policy.length === 0
      ? 'at the top level, write:'
      : `under \`policy\`, ${isReplaced ? 'replace `suspend` by:' : 'write:'}`
  return h`<details id="pause">
    <summary>Pause for a week</summary>
    <p>For a week, Pipewright does not create or change the resource. Commit this to Git. In ${prose(file)}, ${prose(how)}</p>
    <p>${copyable(policy.length === 0 ? `policy: { ${line} }` : line)}</p>
  </details>`
}

/** @satisfies {Record<Sending, string>} */
const SENDING = {
  create: 'Pipewright sends this to create the resource. It sends no later edits.',
  'create-first': 'Pipewright sends this to create the resource, and later edits of the manifest.',
  apply: 'Pipewright sends this when the manifest changes, and again at its interval.',
  held: 'No request is sent now. For the cause, see the top of this page.',
  created: 'No request is sent: the resource exists, and the platform cannot update it.',
  changed: 'The resource exists. Pipewright sends edits of fields that the service can change.',
}

/** @param {ShownRequest} request @param {Sending} sending */
function requestOf({ method, path, operation, body }, sending) {
  const isRequest = sending !== 'created' && sending !== 'changed'
  const title = sending === 'held' ? 'Request that would be sent' : isRequest ? 'Request' : 'Wanted resource'
  return h`<details id="request">
    <summary>${title}${isRequest && [': ', word(operation)]}</summary>
    <p>${SENDING[sending]}</p>
    ${isRequest && h`<p>${code(`${method} ${path}`)}</p>`}
    <pre tabindex="0" aria-label=${title}>${JSON.stringify(body, undefined, 2)}</pre>
    <p class="quiet">Values of secrets are left out.</p>
  </details>`
}

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
