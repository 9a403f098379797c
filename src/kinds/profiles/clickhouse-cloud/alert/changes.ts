import type { Changes, Compared } from '../../../changes.ts'
import { fieldAt } from '../../../field-table.ts'
import { ALERT_FIELDS, RANGES, SERVER_FIELDS, WRITTEN_FIELDS } from './schema.ts'
import { isObject, valueAt, type Json, type JsonObject } from '../../../../lib/json.ts'

/* An update sends a whole body (facts 3.3, 8): the body just read, with changes. Other users' fields stay. */

/** A reply's set values, without the server's. A single channel is in two fields: `channel` stays. */
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

/** Fields of an update: others might be refused. */
const WRITABLE: ReadonlySet<string> = new Set(WRITTEN_FIELDS)

const OF_CHANNEL: ReadonlySet<string> = new Set(Object.keys(fieldAt(ALERT_FIELDS, 'channel')?.fields ?? {}))

/** Values to send for "not set"; omitted fields would stay. */
const UNSET: JsonObject = { scheduleStartAt: null, scheduleOffsetMinutes: 0 }

export const ALERT_CHANGES: Changes = {
  wayOf: () => 'update',
  request(_way, fields, compared) {
    const { desired, observed } = compared
    const body = knownIn(observed, WRITABLE)
    for (const field of fields) if (WRITABLE.has(field)) put(body, field, desired[field] ?? UNSET[field])
    // Other types refuse an upper bound.
    if (!RANGES.some((type) => type === body['thresholdType'])) put(body, 'thresholdMax', undefined)
    // Remove fields of other sources.
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
      // Sends the first channel whole: the service drops omitted fields.
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

/** Keeps fields that the service fills in for a webhook. */
function completed(wanted: JsonObject, there: readonly JsonObject[]): JsonObject {
  const id = wanted['webhookId']
  const { webhookService, slackChannelId } = there.find((one) => one['webhookId'] === id) ?? {}
  const own = id === undefined ? {} : { webhookService, slackChannelId }
  return { ...knownIn(own, OF_CHANNEL), ...wanted }
}

/** The channel to send. Replies can omit it. */
function channelOf(fields: ReadonlySet<string>, { desired, observed }: Compared): JsonObject | undefined {
  const [wanted, there] = [objectAt(desired, 'channel'), objectAt(observed, 'channel')]
  if (there === undefined) return wanted
  const has = (name: string) => fields.has(`channel.${name}`)
  const kept = knownIn(there, OF_CHANNEL)
  // Another type or webhook has other fields.
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

/** Drops null: some fields refuse it, for others it means "not set". */
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
