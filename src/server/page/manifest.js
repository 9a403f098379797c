import { addressOf } from './address-bar.js'
import { copyable } from './copy.js'
import { keyLinks } from './links.js'
import { code, fact, facts, h, prose, word } from './markup.js'
import { serverTime } from './time.js'

/**
 * @import { ShownRequest } from '../../contract/manifest-facts.ts'
 * @import { ResourceReply, Sending } from '../api/resources.ts'
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
