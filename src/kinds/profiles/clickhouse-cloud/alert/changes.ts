import type { Changes, Compared } from '../../../changes.ts'
import { fieldAt } from '../../../field-table.ts'
import { ALERT_FIELDS, RANGES, SERVER_FIELDS, WRITTEN_FIELDS } from './schema.ts'
import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'

/* An update replaces the whole alert, so Pipewright reads the alert and sends it with the edits. */

/** The set values of a reply, without server fields. A single item of `channels` becomes `channel`. */
export function setIn(reply: JsonObject): JsonObject {
  const { channel, channels, ...rest } = setFields(reply)
  const all = Array.isArray(channels) ? channels : []
  if (all.length > 1) return { ...rest, channels: all }
  const only = channel ?? all[0]
  return only === undefined ? rest : { ...rest, channel: only }
}

function setFields(reply: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(reply).flatMap(([name, value]) => {
      if (value === undefined || value === null || SERVER_FIELDS.includes(name)) return []
      if (Array.isArray(value))
        return [[name, value.map((item: Json) => (isObject(item) ? setFields(item) : item))]]
      return [[name, isObject(value) ? setFields(value) : value]]
    }),
  )
}

const WRITABLE: ReadonlySet<string> = new Set(WRITTEN_FIELDS)

const OF_CHANNEL: ReadonlySet<string> = new Set(Object.keys(fieldAt(ALERT_FIELDS, 'channel')?.fields ?? {}))

/** Values that unset these fields. An update without the fields keeps them. */
const UNSET: JsonObject = { scheduleStartAt: null, scheduleOffsetMinutes: 0 }

export const ALERT_CHANGES: Changes = {
  wayOf: () => 'update',
  request(_way, fields, compared) {
    const { desired, observed } = compared
    const body = knownIn(observed, WRITABLE)
    for (const field of fields) if (WRITABLE.has(field)) put(body, field, desired[field] ?? UNSET[field])
    // The service refuses an upper bound if the threshold type is no range.
    if (!RANGES.some((type) => type === body['thresholdType'])) put(body, 'thresholdMax', undefined)
    for (const name of body['source'] === 'tile' ? ['savedSearchId', 'groupBy'] : ['dashboardId', 'tileId'])
      put(body, name, undefined)
    if (
      fields.has('scheduleStartAt') &&
      body['scheduleStartAt'] !== null &&
      !fields.has('scheduleOffsetMinutes')
    )
      put(body, 'scheduleOffsetMinutes', UNSET['scheduleOffsetMinutes'])
    const all = channelsIn(observed)
    const { channel: _one, channels: _all, ...others } = body
    const wanted = channelsIn(desired)
    if (wanted.length > 0)
      return { ...others, channels: fields.has('channels') ? wanted.map((one) => completed(one, all)) : all }
    const channel = channelOf(fields, compared)
    const isOnly = all.length === 0 || fields.has('channels')
    return {
      ...others,
      ...(channel !== undefined && { channel }),
      // The first channel is sent whole, because the service drops fields that are omitted.
      ...(!isOnly && channel !== undefined && { channels: [channel, ...all.slice(1)] }),
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

function channelsIn({ channels }: JsonObject): readonly JsonObject[] {
  const all = Array.isArray(channels) ? channels.filter((one: Json) => isObject(one)) : []
  return all.map((one) => knownIn(one, OF_CHANNEL))
}

function completed(wanted: JsonObject, there: readonly JsonObject[]): JsonObject {
  const id = wanted['webhookId']
  const { webhookService, slackChannelId } = there.find((one) => one['webhookId'] === id) ?? {}
  const own = id === undefined ? {} : { webhookService, slackChannelId }
  return { ...knownIn(own, OF_CHANNEL), ...wanted }
}

/** The observed channel with the changes to send, or the wanted channel if the reply has none. */
function channelOf(fields: ReadonlySet<string>, { desired, observed }: Compared): JsonObject | undefined {
  const [wanted, there] = [desired, observed].map(({ channel }) => (isObject(channel) ? channel : undefined))
  if (there === undefined) return wanted
  const has = (name: string) => fields.has(`channel.${name}`)
  const kept = knownIn(there, OF_CHANNEL)
  // If the type or the webhook changes, fields of the earlier type or webhook are removed.
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

/** Fields with these names. Drops null, which some fields refuse, and which means "not set" in others. */
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
