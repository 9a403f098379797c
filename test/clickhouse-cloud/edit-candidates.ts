import type { Json, JsonObject } from '../../src/lib/json.ts'
import { fieldAt, withAt, writtenOf, type Steps } from './edits.ts'
import { editedValues } from './edit-values.ts'
import type { Fact } from './facts.ts'
import { at, isSet, itemsAt, objectAt, textOf } from './look.ts'
import { kindOf, LOGINS } from './patch.ts'

/* Bodies in which one field has another value, with what has to go along; whether they are right is for the rules to say. */

const ROLE = 'arn:aws:iam::210987654321:role/edited'
const PEM = '-----BEGIN CERTIFICATE-----\nRWRpdGVk\n-----END CERTIFICATE-----\n'
const KEY = { accessKeyId: 'edited', secretKey: 'edited' }

const OTHER_LOGINS: readonly JsonObject[] = [
  { credentials: { username: 'edited', password: 'edited' } },
  { credentials: KEY },
  { credentials: { certificate: PEM, privateKey: PEM.replaceAll('CERTIFICATE', 'PRIVATE KEY') } },
  { credentials: { connectionString: 'edited' } },
  { credentials: { username: 'edited' }, iamRole: ROLE },
  { iamRole: ROLE },
  { accessKey: KEY },
  { serviceAccountKey: Buffer.from('{"type":"edited"}').toString('base64') },
  { connectionString: 'edited' },
  { serviceAccountKey: { serviceAccountFile: Buffer.from('{"type":"edited"}').toString('base64') } },
  {},
]

/** Every way to change a field of a body; to add it where it is not there. */
export function candidatesOf(body: JsonObject, fact: Fact): readonly JsonObject[] {
  return placesOf(body, fact).flatMap((steps) =>
    editedValues(fact, valueAt(body, steps), body).flatMap((value) =>
      alongWith(body, { fact, steps, value }),
    ),
  )
}

function placesOf(body: JsonObject, { field }: Fact): readonly Steps[] {
  const there = writtenOf(body)
    .map(({ steps }) => steps)
    .filter((steps) => fieldAt(steps) === field)
  if (there.length > 0) return there
  const [list = '', name] = field.split('[].')
  if (name === undefined) return [field.split('.')]
  return itemsAt(body, list).length > 0 ? [[...list.split('.'), 0, name]] : []
}

function valueAt(body: JsonObject, steps: Steps): Json | undefined {
  return writtenOf(body).find((written) => written.steps.join('.') === steps.join('.'))?.value
}

interface Put {
  readonly fact: Fact
  readonly steps: Steps
  readonly value: Json
}

function alongWith(body: JsonObject, { fact, steps, value }: Put): readonly JsonObject[] {
  const plain = put(body, steps, value)
  const others: readonly JsonObject[] = [
    ...(/\.(authentication|type)$/.test(fact.field) ? otherLogins(plain) : []),
    ...(fact.field === 'destination.columns[].name' || fact.field === 'fieldMappings[].destinationField'
      ? renamed(body, valueAt(body, steps), value)
      : []),
    ...(fact.field.endsWith('.useCustomSortingKey')
      ? [put(plain, [...steps.slice(0, -1), 'sortingKeys'], ['edited'])]
      : []),
    ...(fact.change === 'immutable' ? withLess(plain, steps) : []),
  ]
  return [plain, ...others].filter(hasTimeAsAsked)
}

/** A time is for what asks for it alone (R20 says no more than that it is needed then). */
function hasTimeAsAsked(body: JsonObject): boolean {
  const { iteratorType, timestamp } = objectAt(body, 'source.kinesis')
  return isSet(timestamp) === (iteratorType === 'AT_TIMESTAMP')
}

function put(body: JsonObject, steps: Steps, value: Json | undefined): JsonObject {
  return withAt(body, steps, value) as JsonObject // the root of a body is one
}

function otherLogins(body: JsonObject): readonly JsonObject[] {
  const path = `source.${kindOf(body)}`
  const rest = Object.entries(objectAt(body, path)).filter(([name]) => !LOGINS.includes(name))
  return OTHER_LOGINS.map((login) => put(body, path.split('.'), { ...Object.fromEntries(rest), ...login }))
}

/** A column by another name, and what is mapped to it. */
function renamed(body: JsonObject, from: Json | undefined, to: Json): readonly JsonObject[] {
  if (!isSet(at(body, 'fieldMappings'))) return []
  const other = (name: Json | undefined) => (textOf(name) === textOf(from) ? to : (name ?? null))
  const columns = itemsAt(body, 'destination.columns').map((column) => ({
    ...column,
    name: other(column['name']),
  }))
  const mappings = itemsAt(body, 'fieldMappings').map((mapping) => ({
    ...mapping,
    destinationField: other(mapping['destinationField']),
  }))
  return [{ ...put(body, ['destination', 'columns'], columns), fieldMappings: mappings }]
}

/** Without another field beside it or, of a source, without two; or with a time that it needs. */
function withLess(body: JsonObject, steps: Steps): readonly JsonObject[] {
  const beside = steps.slice(0, -1)
  const names = writtenOf(body)
    .map((written) => written.steps)
    .filter(
      (other) =>
        other.length === steps.length &&
        beside.every((step, index) => other[index] === step) &&
        isOther(other),
    )
    .map((other) => other.at(-1) ?? '')
  function isOther(other: Steps): boolean {
    return other.at(-1) !== steps.at(-1)
  }
  const one = names.map((name) => put(body, [...beside, name], undefined))
  const two = one.flatMap((less) => names.map((name) => put(less, [...beside, name], undefined)))
  const timed = [
    put(body, [...beside, 'timestamp'], beside.at(-1) === 'offset' ? '2025-01-01T00:00' : 1_700_000_000),
    put(body, [...beside, 'seekTimestamp'], '2025-01-01T00:00:00Z'),
  ]
  return [...one, ...timed, ...(beside[0] === 'source' ? two : [])]
}
