import { isObject, sameJson, type Json, type JsonObject } from '../../src/lib/json.ts'
import { ALERT_ID } from './formats.ts'
import { isSet, textOf, unless } from './look.ts'
import type { Fault } from './shape.ts'

/*
 * What is wrong with the body of an alert (section 4.13, R43), in the two homes that it may have. Lenient where nobody knows: a null is
 * taken where the type has one and nobody saw it refused; `thresholdMax` may stay beside any type; what is referred to is there.
 */

export type Home = 'cloud' | 'hyperdx'

type Check = (value: Json) => boolean

const TYPES = [
  'above',
  'below',
  'above_exclusive',
  'below_or_equal',
  'equal',
  'not_equal',
  'between',
  'not_between',
]

const INTERVAL_MINUTES: Readonly<Record<string, number>> = {
  '30s': 0.5,
  '1m': 1,
  '5m': 5,
  '15m': 15,
  '30m': 30,
  '1h': 60,
  '6h': 360,
  '12h': 720,
  '1d': 1440,
}

/** Of the server's own fields there is none. */
const FIELDS: Readonly<Record<string, Check>> = {
  source: oneOf(['tile', 'saved_search']),
  dashboardId: orNull(isId),
  tileId: orNull(isText(1, Infinity)),
  savedSearchId: orNull(isId),
  groupBy: isText(1, Infinity), // older revisions refuse null
  threshold: isNumber,
  thresholdType: oneOf(TYPES),
  thresholdMax: isNumber, // null was seen to be refused
  interval: oneOf(Object.keys(INTERVAL_MINUTES)),
  scheduleOffsetMinutes: isWhole(0, 1439), // the same
  scheduleStartAt: orNull(isNear),
  numConsecutiveWindows: orNull(isWhole(1, Infinity)),
  name: orNull(isText(1, 512)),
  message: orNull(isText(1, 4096)),
  note: orNull(isText(1, 4096)),
  channel: isObject,
  channels: (value) => Array.isArray(value) && value.length >= 1 && value.length <= 10,
}

const CHANNEL: Readonly<Record<Home, Readonly<Record<string, Check>>>> = {
  cloud: {
    type: oneOf(['webhook', 'email']),
    webhookId: isId,
    webhookService: orNull(isText(1, Infinity)),
    slackChannelId: orNull(isText(1, Infinity)),
    severity: orNull(oneOf(['critical', 'error', 'warning', 'info'])),
    emailRecipients: (value) =>
      Array.isArray(value) && value.length > 0 && value.every((one) => /^[^@\s]+@[^@\s]+$/.test(textOf(one))),
  },
  hyperdx: { type: oneOf(['webhook']), webhookId: isId },
}

/** What a create and a whole body have to have; Cloud was seen to need the threshold, and marks nothing. */
const NEEDED: Readonly<Record<Home, readonly string[]>> = {
  cloud: ['threshold'],
  hyperdx: ['threshold', 'thresholdType', 'interval'],
}

export function alertFaults(body: Json, home: Home): readonly Fault[] {
  if (!isObject(body)) return [{ field: '', rule: 'type' }]
  return [
    ...memberFaults(body, FIELDS),
    ...NEEDED[home].flatMap((name) => unless(isSet(body[name]), name, 'needed')),
    ...channelsOf(body, home),
    ...sourceFaults(body),
    ...thresholdFaults(body),
    ...scheduleFaults(body),
  ]
}

function memberFaults(body: JsonObject, checks: Readonly<Record<string, Check>>): readonly Fault[] {
  return Object.entries(body).flatMap(([field, value]) => {
    const check = Object.hasOwn(checks, field) ? checks[field] : undefined
    if (check === undefined) return [{ field, rule: 'unknown field' }]
    return unless(value !== undefined && check(value), field, 'value')
  })
}

function channelsOf(body: JsonObject, home: Home): readonly Fault[] {
  const { channel, channels } = body
  const list: readonly Json[] = Array.isArray(channels) ? channels : []
  const all = [...(isObject(channel) ? [channel] : []), ...list]
  return [
    ...unless(all.length > 0, 'channel', 'needed'),
    ...unless(
      !isSet(channel) || list.length === 0 || sameJson(channel, list[0]),
      'channel',
      'not channels[0]',
    ),
    ...unless(
      list.every((one, index) => list.findIndex((other) => sameJson(one, other)) === index),
      'channels',
      'twice',
    ),
    ...all.flatMap((one) => channelFaults(one, home)),
  ]
}

function channelFaults(channel: Json, home: Home): readonly Fault[] {
  if (!isObject(channel)) return [{ field: 'channels', rule: 'type' }]
  const { type, webhookId, emailRecipients } = channel
  return [
    ...memberFaults(channel, CHANNEL[home]),
    ...unless(type !== undefined, 'type', 'needed'),
    ...unless(type !== 'webhook' || isSet(webhookId), 'webhookId', 'needed'),
    ...unless(type !== 'email' || isSet(emailRecipients), 'emailRecipients', 'needed'),
  ].map(({ field, rule }) => ({ field: `channel.${field}`, rule }))
}

/** R43 */
function sourceFaults(body: JsonObject): readonly Fault[] {
  const isTile = body['source'] === 'tile'
  const needed = isTile ? ['dashboardId', 'tileId'] : ['savedSearchId']
  return [
    ...needed.flatMap((name) => unless(isSet(body[name]), name, 'R43')),
    ...unless(!isTile || !isSet(body['groupBy']), 'groupBy', 'saved search only'),
  ]
}

/** R43 */
function thresholdFaults({ threshold, thresholdType, thresholdMax }: JsonObject): readonly Fault[] {
  const isRange = thresholdType === 'between' || thresholdType === 'not_between'
  if (isRange && !isSet(thresholdMax)) return [{ field: 'thresholdMax', rule: 'R43' }]
  return unless(!isSet(thresholdMax) || Number(thresholdMax) >= Number(threshold), 'thresholdMax', 'range')
}

function scheduleFaults({ interval, scheduleOffsetMinutes, scheduleStartAt }: JsonObject): readonly Fault[] {
  const offset = Number(scheduleOffsetMinutes ?? 0)
  const minutes = INTERVAL_MINUTES[textOf(interval)] ?? Infinity
  return unless(
    offset === 0 || (offset < minutes && !isSet(scheduleStartAt)),
    'scheduleOffsetMinutes',
    'schedule',
  )
}

function oneOf(words: readonly string[]): Check {
  return (value) => typeof value === 'string' && words.includes(value)
}

function orNull(check: Check): Check {
  return (value) => value === null || check(value)
}

function isId(value: Json): boolean {
  return typeof value === 'string' && ALERT_ID.test(value)
}

function isText(low: number, high: number): Check {
  return (value) =>
    typeof value === 'string' && Array.from(value).length >= low && Array.from(value).length <= high
}

function isNumber(value: Json): boolean {
  return typeof value === 'number'
}

function isWhole(low: number, high: number): Check {
  return (value) => Number.isInteger(value) && Number(value) >= low && Number(value) <= high
}

const YEAR_MS = 366 * 86_400_000

/** RFC 3339, at most ten years back and one ahead. */
function isNear(value: Json): boolean {
  const text = textOf(value)
  const ahead = Date.parse(text) - Date.now()
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d:\d\d)$/.test(text) &&
    ahead <= YEAR_MS &&
    ahead >= -10 * YEAR_MS
  )
}
