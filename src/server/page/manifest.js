import { addressOf } from './address-bar.js'
import { code, element, fact, facts, heading, word } from './elements.js'
import { resourceLink } from './problem.js'

/**
 * @import { ShownRequest } from '../../contract/manifest-facts.ts'
 * @import { ResourceReply } from '../api/resources.ts'
 * @import { Sending } from '../api/sending.ts'
 */

/** What the manifest says beside its spec, what needs what, and what it asks for. @param {ResourceReply} resource */
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

/** Those that need a Service are those that belong to it. @param {Readonly<Record<string, unknown>>} document @param {number} count */
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

/**
 * How the request is called, and what becomes of it. Where nothing will be sent, it is no request.
 * @satisfies {Record<Sending, { title: string, isRequest: boolean, text: string }>}
 */
const SENDING = {
  create: {
    title: 'What is sent',
    isRequest: true,
    text: 'It is sent to create this. What was created is not updated later.',
  },
  'create-first': {
    title: 'What is sent',
    isRequest: true,
    text: 'It is sent to create this. What changes in the manifest later is sent then.',
  },
  apply: {
    title: 'What is sent',
    isRequest: true,
    text: 'It is sent when the manifest changes, and again at its interval.',
  },
  held: {
    title: 'What would be sent',
    isRequest: true,
    text: 'Nothing is sent now. The top of this page says why.',
  },
  created: {
    title: 'What the manifest asks for',
    isRequest: false,
    text: 'Nothing is sent: this was created already, and the platform cannot update it.',
  },
  changed: {
    title: 'What the manifest asks for',
    isRequest: false,
    text: 'This was created already. What changes in the manifest is sent, where the service can change it.',
  },
}

/** @param {ShownRequest} request @param {Sending} sending */
function requestOf({ method, path, operation, body }, sending) {
  const { title, isRequest, text } = SENDING[sending]
  return element(
    'details',
    { id: 'request' },
    element('summary', {}, title, ...(isRequest ? [': ', word(operation)] : [])),
    element('p', {}, text),
    ...(isRequest ? [element('p', {}, code(`${method} ${path}`))] : []),
    element('pre', { tabindex: '0', 'aria-label': title }, JSON.stringify(body, undefined, 2)),
    element('p', { class: 'quiet' }, 'Values of secrets are left out.'),
  )
}
