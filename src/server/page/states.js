/**
 * @import { ShownResource } from '../shown-resource.ts'
 * @import { ResourceReply } from '../api/resources.ts'
 */

import { foreign, h, table } from './markup.js'
import { ago, duration, serverTime } from './time.js'

/**
 * Whether the last check read the resource. Otherwise, its state is old.
 * @param {Pick<ShownResource, 'conditions'>} resource
 */
function isRead({ conditions }) {
  return conditions.Synced.status !== 'Unknown'
}

/** @param {Pick<ShownResource, 'state' | 'checkedAt' | 'conditions'>} resource */
export function stateWords(resource) {
  const { state, checkedAt } = resource
  if (state === undefined) return undefined
  if (isRead(resource) || checkedAt === undefined) return foreign(state)
  return h`<span>${foreign(state)}, ${ago(checkedAt)}</span>`
}

/**
 * A state lasts until the next. The last state lasts until now, or if the last check failed, until the last reading.
 * @param {ResourceReply} resource its states: oldest first
 */
export function stateSection(resource) {
  const { states } = resource
  const last = states.at(-1)
  if (last === undefined) return ''
  const isOld = !isRead(resource)
  const end = serverTime()
  const rows = states.map(({ state, from, until }, index) => {
    const to = states[index + 1]?.from ?? (isOld ? until : end)
    return { cells: [foreign(state ?? 'not reported'), ago(from), duration(to - from), ago(until)] }
  })
  return h`<div id="states">
    <h2>State over time</h2>
    <p class="quiet">As the platform reported it since the daemon started${isOld && ['; last read ', ago(last.until)]}.</p>
    ${table('State over time', ['State', 'From', 'For', 'Last seen'], rows.toReversed())}
  </div>`
}
