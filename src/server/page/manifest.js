import { addressOf } from './address-bar.js'
import { code, element, fact, facts, heading, word } from './elements.js'
import { resourceLink } from './problem.js'

/**
 * @import { ShownRequest } from '../../contract/manifest-facts.ts'
 * @import { ResourceReply, Sending } from '../api/resources.ts'
 */

/** Dependencies, policy and request. @param {ResourceReply} resource */
export function manifestSection({ manifest, sending }) {
  if (manifest === undefined) return []
  const { document, request, needs, neededBy, neededByCount } = manifest
  const { policy } = document
  const others = neededByCount - neededBy.length
  const needed = [
    fact('Needs', needs.length === 0 ? undefined : keyLinks(needs)),
    fact(
      'Needed by',
      neededByCount === 0
        ? undefined
        : element('span', {}, keyLinks(neededBy), others > 0 ? othersOf(document, others) : undefined),
    ),
  ].filter((one) => one !== undefined)
  return [
    ...(needed.length === 0 ? [] : [heading(2, 'Connections'), facts(...needed)]),
    ...(document['kind'] === 'Service' ? [] : [heading(2, 'Policy'), policyOf(policy)]),
    ...(request === undefined || sending === undefined ? [] : [requestOf(request, sending)]),
  ]
}

/**
 * Resources that need a Service belong to it.
 * @param {Readonly<Record<string, unknown>>} document @param {number} count
 */
function othersOf({ kind, metadata }, count) {
  const text = `and ${count} more`
  const name =
    typeof metadata === 'object' && metadata !== null && 'name' in metadata ? metadata.name : undefined
  if (kind !== 'Service' || typeof name !== 'string') return text
  return element('a', { href: addressOf({ service: name }), 'data-inside': true }, text)
}

/** @param {readonly string[]} keys */
function keyLinks(keys) {
  return element('span', { class: 'keys' }, ...keys.flatMap((key) => [resourceLink(key), ' ']))
}

/** @param {unknown} policy */
function policyOf(policy) {
  if (typeof policy !== 'object' || policy === null || Object.keys(policy).length === 0)
    return element('p', { class: 'quiet' }, 'The manifest sets none: the defaults apply.')
  return facts(
    ...Object.entries(policy).map(([name, value]) =>
      fact(name, code(typeof value === 'string' ? value : JSON.stringify(value))),
    ),
  )
}

/** @satisfies {Record<Sending, string>} */
const SENDING = {
  create: 'It is sent to create this. A created resource is not updated later.',
  'create-first': 'It is sent to create this. Later edits of the manifest are sent then.',
  apply: 'It is sent when the manifest changes, and again at its interval.',
  held: 'No request is sent now. The top of this page says why.',
  created: 'No request is sent: this was created already, and the platform cannot update it.',
  changed: 'This was created already. Edits of the manifest are sent if the service can change the field.',
}

/** @param {ShownRequest} request @param {Sending} sending */
function requestOf({ method, path, operation, body }, sending) {
  const isRequest = sending !== 'created' && sending !== 'changed'
  const title = sending === 'held' ? 'Request that would be sent' : isRequest ? 'Request' : 'Wanted resource'
  return element(
    'details',
    { id: 'request' },
    element('summary', {}, title, ...(isRequest ? [': ', word(operation)] : [])),
    element('p', {}, SENDING[sending]),
    ...(isRequest ? [element('p', {}, code(`${method} ${path}`))] : []),
    element('pre', { tabindex: '0', 'aria-label': title }, JSON.stringify(body, undefined, 2)),
    element('p', { class: 'quiet' }, 'Values of secrets are left out.'),
  )
}
