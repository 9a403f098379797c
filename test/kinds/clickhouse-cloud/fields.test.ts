import { describe, expect, test } from 'vitest'
import { explainKind, withFields } from '../../../src/cli/commands/explain-command.ts'
import { kindJsonSchema } from '../../../src/kinds/json-schema.ts'
import { CLICKHOUSE_CLOUD } from '../../../src/kinds/profiles/profiles.ts'
import { isObject, valueAt } from '../../../src/lib/json.ts'
import { FACTS } from '../../clickhouse-cloud/facts.ts'

/*
 * Every field of a pipe, as the facts of the service have it (`fields.txt`: its tables, row for row), held against the schema and the
 * field table. A row: field, type, values, whether a create needs it, whether a GET returns it, form, change, kept back.
 */

const OWN = new Map(
  [explainKind(CLICKHOUSE_CLOUD, 'Pipe')]
    .flatMap((whole) => (whole === undefined ? [] : withFields(whole)))
    .map((facts) => [facts.path.replace('Pipe.spec.', ''), facts]),
)

function factsOf(field: string) {
  const facts = OWN.get(field)
  if (facts === undefined) throw new Error(`there is no ${field}`)
  return facts
}

const SCHEMA = kindJsonSchema(CLICKHOUSE_CLOUD, 'Pipe')

function schemaAt(field: string): Readonly<Record<string, unknown>> {
  const steps = ['spec', ...field.split('.')].map((step) => `properties.${step.replace('[]', '.items')}`)
  const schema = valueAt(SCHEMA, steps.join('.'))
  if (!isObject(schema)) throw new Error(`there is no ${field}`)
  return schema
}

function boundsAt(field: string) {
  const { minimum, minLength, maximum, maxLength } = schemaAt(field)
  return { low: minimum ?? minLength, high: maximum ?? maxLength }
}

/** A secret is a reference, and has no type of its own. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  string: ['text', 'timestamp', 'UUID', 'text, or a reference to a secret', 'reference to a secret'],
  int: ['whole number'],
  number: ['number'],
  bool: ['true or false'],
  'string[]': ['list of texts'],
}

const FORMS: Readonly<Record<string, readonly string[]>> = {
  plain: ['yes'],
  set: ['yes, in any order'],
  ordered: ['yes, in this order'],
  'comma set': ['yes, in any order'],
  key: ['yes'],
  instant: ['yes, by instant'],
  'instant (unix)': ['yes, by instant'],
  pem: ['yes, except spaces'],
  engine: ['yes, except its arguments'],
  'quantity (m)': ['yes, in any unit'],
  'quantity (Gi)': ['yes, in any unit'],
  none: ['no: the platform does not return it'],
  'whenReturned plain': ['yes, when the platform returns it'],
  'whenReturned ordered': ['yes, in this order, when the platform returns it'],
}

const CHANGES: Readonly<Record<string, string>> = {
  patch: 'by updatePipe',
  mappings: 'by updatePipe',
  scaling: 'by scalePipe',
  settings: 'by putPipeSettings',
  immutable: 'no: it stays as it was created',
}

/** Its own name is the default of `metadata.name`; where nothing is said, `basic` needs it. */
const NEEDED_OTHERWISE = new Set(['name'])

/** Needed with any registry by R9, and with any engine. */
const IN_OBJECT = /^in object$/

describe('every field of a pipe', () => {
  test('is there, and no other', () => {
    const leaves = [...OWN.values()]
      .filter(
        ({ path, fields }) =>
          /^Pipe\.spec\.(?!.*\.secretRef)/.test(path) && fields.every(({ name }) => name === 'secretRef'),
      )
      .map(({ path }) => path.replace('Pipe.spec.', ''))
    expect(leaves.toSorted()).toEqual([...FACTS.map(({ field }) => field), 'service'].toSorted())
  })

  test('has the type of its row', () => {
    for (const { field, type } of FACTS) expect.soft(TYPES[type], field).toContain(factsOf(field).type)
  })

  test('is compared in the form of its row', () => {
    for (const { field, form } of FACTS) {
      const { compared, fields } = factsOf(field)
      // of what may be a reference, as of any mapping, no more is said
      // a size was seen to be missing for a while, although the table says that it comes back
      const forms = FORMS[form] ?? []
      const said = field.startsWith('scaling.')
        ? forms.map((words) => `${words}, when the platform returns it`)
        : forms
      expect.soft(fields.length > 0 && form !== 'none' ? ['field by field'] : said, field).toContain(compared)
    }
  })

  test('is changed as its row says', () => {
    for (const { field, change } of FACTS) expect.soft(factsOf(field).changed, field).toBe(CHANGES[change])
  })

  test('is needed if its row says so', () => {
    for (const { field, needed } of FACTS) {
      const isNeeded = needed === 'yes' || IN_OBJECT.test(needed)
      expect.soft(factsOf(field).isRequired, field).toBe(isNeeded && !NEEDED_OTHERWISE.has(field))
    }
  })

  test('is kept back if its row says so', () => {
    for (const { field, isKeptBack, isSecret } of FACTS) {
      const { isSensitive, type } = factsOf(field)
      const isReference = type === 'reference to a secret'
      expect.soft([isSensitive, isReference], field).toEqual([isKeptBack, isSecret])
    }
  })

  const listed = FACTS.filter(({ words }) => words !== undefined)
  test('takes the listed values', () => {
    for (const { field, words } of listed) {
      const schema = schemaAt(field)
      expect.soft(schema['enum'] ?? [schema['const']], field).toEqual(words)
    }
  })

  const bounded = FACTS.filter(({ low, high }) => (low ?? high) !== undefined)
  test('takes values within its bounds', () => {
    for (const { field, low, high } of bounded) {
      const bounds = boundsAt(field)
      expect.soft(bounds, field).toEqual({ low: low ?? bounds.low, high: high ?? bounds.high })
    }
  })

  test('of which some are listed, and some have bounds', () => {
    expect(listed.length).toBeGreaterThan(25)
    expect(bounded.length).toBeGreaterThan(25)
  })
})
