import type { Changes, Compared } from '../../../changes.ts'
import { ALERT_FIELDS, RANGES } from './schema.ts'
import { isObject, valueAt, type Json, type JsonObject } from '../../../../lib/json.ts'

/*
 * How an alert that exists is changed (facts 3.3 and 8): by a whole body. It is made of what was just read, so that nothing is lost that
 * somebody else has set, and of the fields that the manifest wants otherwise.
 */

/** Fields of the server's own. */
const SERVERS: ReadonlySet<string> = new Set(['id', 'teamId', 'state', 'createdAt', 'updatedAt'])

/** Of a reply what is set, without what is the server's own. */
export function setIn(reply: JsonObject): JsonObject {
  const own = [...SERVERS, 'silenced', 'executionErrors']
  return Object.fromEntries(
    Object.entries(reply).flatMap(([name, value]) => {
      if (value === undefined || value === null || own.includes(name)) return []
      return [[name, isObject(value) ? setIn(value) : value]]
    }),
  )
}

/** What may be written. What a reply holds beside it, nobody knows whether it may. */
const WRITABLE: ReadonlySet<string> = new Set(Object.keys(ALERT_FIELDS).filter((name) => !SERVERS.has(name)))

const OF_CHANNEL: ReadonlySet<string> = new Set(Object.keys(ALERT_FIELDS.channel.fields))

/** What says that a field is not set, where to leave it out keeps it. */
const UNSET: JsonObject = { scheduleStartAt: null, scheduleOffsetMinutes: 0 }

export const ALERT_CHANGES: Changes = {
  wayOf: () => 'update',
  request(_way, fields, compared) {
    const { desired, observed } = compared
    const body = knownIn(observed, WRITABLE)
    for (const field of fields) if (WRITABLE.has(field)) put(body, field, desired[field] ?? UNSET[field])
    // What is kept beside another type is refused there.
    if (!RANGES.some((type) => type === body['thresholdType'])) put(body, 'thresholdMax', undefined)
    // So is what belongs to the other source.
    for (const name of body['source'] === 'tile' ? ['savedSearchId', 'groupBy'] : ['dashboardId', 'tileId'])
      put(body, name, undefined)
    if (
      fields.has('scheduleStartAt') &&
      body['scheduleStartAt'] !== null &&
      !fields.has('scheduleOffsetMinutes')
    )
      put(body, 'scheduleOffsetMinutes', UNSET['scheduleOffsetMinutes'])
    const channel = channelOf(fields, compared)
    const { channels } = observed
    const all = Array.isArray(channels) ? channels.filter((one: Json) => isObject(one)) : []
    return {
      ...body,
      ...(channel !== undefined && { channel }),
      // One that is not sent with the first is dropped.
      ...(all.length > 0 && channel !== undefined && { channels: [channel, ...all.slice(1)] }),
    }
  },
  replacesWhole: true,
  isFollowed: () => false,
  isLeft: () => false,
  needsRest: () => false,
  asksForRest: () => false,
  isSlow: () => false,
  rest: {},
}

/** It may not come back although there is one. */
function channelOf(fields: ReadonlySet<string>, { desired, observed }: Compared): JsonObject | undefined {
  const [wanted, there] = [objectAt(desired, 'channel'), objectAt(observed, 'channel')]
  if (there === undefined) return wanted
  const has = (name: string) => fields.has(`channel.${name}`)
  const kept = knownIn(there, OF_CHANNEL)
  // What belongs to another webhook, or to none, goes with it.
  const gone = has('type') ? [...OF_CHANNEL].filter((name) => name !== 'severity') : []
  for (const name of has('webhookId') ? [...gone, 'webhookService', 'slackChannelId'] : gone)
    put(kept, name, undefined)
  for (const name of OF_CHANNEL) {
    const isWanted = wanted?.[name] !== undefined
    const isHidden = there[name] === undefined || there[name] === null
    const isAsked = has(name) || (isWanted && (gone.includes(name) || isHidden))
    if (isAsked) put(kept, name, wanted?.[name])
  }
  return kept
}

/** Null is refused in some of them, and says the same as nothing in the others. */
function knownIn(object: JsonObject, names: ReadonlySet<string>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) =>
      names.has(name) && value !== undefined && value !== null ? [[name, value]] : [],
    ),
  )
}

function put(object: Record<string, Json>, name: string, value: Json | undefined): void {
  if (value === undefined) delete object[name]
  else object[name] = value
}

function objectAt(body: JsonObject, name: string): JsonObject | undefined {
  const value = valueAt(body, name)
  return value !== undefined && isObject(value) ? value : undefined
}
