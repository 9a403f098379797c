import type { Json, JsonObject } from '../../src/lib/json.ts'
import type { Fact } from './facts.ts'
import { itemsAt, textOf } from './look.ts'

/* Other values that a field may have, by its row; which of them a body can have is for the rules to say. */

const PEM = '-----BEGIN CERTIFICATE-----\nRWRpdGVk\n-----END CERTIFICATE-----\n'
const KEY_FILE = Buffer.from('{"type":"edited"}').toString('base64')

/** By the words with which a row begins its format. */
const EDITED: readonly (readonly [says: string, values: readonly Json[]])[] = [
  ['PEM', [PEM]],
  ['role ARN', ['arn:aws:iam::210987654321:role/edited']],
  ['base64 of the JSON key', [KEY_FILE]],
  ['base64 of 1 to', ['ZWRpdGVk']],
  ['UUIDs', [['11111111-2222-4333-8444-555555555555']]],
  ['`host:port` list', ['edited.example:9092']],
  ['`https` only', ['https://edited.example']],
  ['URL with wildcards', ['https://edited.example/*.json', 'gs://edited/*.json']],
  [
    'SQS URL',
    ['https://sqs.eu-north-1.amazonaws.com/210987654321/edited', 'projects/edited/subscriptions/edited'],
  ],
  ['`YYYY-MM-DDThh:mm`', ['2025-01-01T00:00']],
  ['RFC 3339', ['2025-01-01T00:00:00Z']],
  ['host name or address', ['edited.example']],
  ['`mongodb://`', ['mongodb://edited.example/']],
  ['`gs://bucket/path/`', ['gs://edited/path/']],
  ['SQL expression', ['tuple()']],
  ['ClickHouse type', ['String', 'UInt64']],
]

/** Values other than the one that is there, the likeliest first. */
export function editedValues(fact: Fact, now: Json | undefined, body: JsonObject): readonly Json[] {
  return valuesOf(fact, now, body).filter((value) => JSON.stringify(value) !== JSON.stringify(now))
}

function valuesOf(fact: Fact, now: Json | undefined, body: JsonObject): readonly Json[] {
  const { type, words, values } = fact
  const columns = itemsAt(body, 'destination.columns').map(({ name }) => textOf(name))
  const formatted = EDITED.find(([says]) => values.startsWith(says))?.[1]
  if (words !== undefined) return words
  if (formatted !== undefined) return formatted
  if (type === 'bool') return [now !== true]
  if (type === 'int' || type === 'number') return numbersOf(fact, now)
  if (type === 'string[]')
    return [[...(Array.isArray(now) ? now : []), 'edited'], ...columns.map((name) => [name])]
  return ['edited', ...columns]
}

function numbersOf({ form, low, high }: Fact, now: Json | undefined): readonly Json[] {
  const is = typeof now === 'number' ? now : (low ?? 1)
  const others = form.startsWith('quantity') ? [is * 2, is / 2] : [is + 1, is - 1]
  return others.filter((value) => value >= (low ?? 1) && value <= (high ?? Infinity))
}
