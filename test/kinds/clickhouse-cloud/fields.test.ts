import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { withFields, explainKind } from '../../../src/kinds/explain.ts'
import { kindJsonSchema } from '../../../src/kinds/json-schema.ts'
import { CLICKHOUSE_CLOUD } from '../../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import { isObject } from '../../../src/lib/json.ts'

/*
 * Every field of a pipe, as the facts of the service have it (`fields.txt`: its tables, row for row), held against the schema and the
 * field table. A row: field, type, values, whether a create needs it, whether a GET returns it, form, change, kept back.
 */

interface Row {
  readonly field: string
  readonly type: string
  readonly values: string
  readonly needed: string
  readonly returned: string
  readonly form: string
  readonly change: string
  readonly kept: string
}

const ROWS: readonly Row[] = readFileSync(new URL('fields.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [
      ,
      field = '',
      type = '',
      values = '',
      needed = '',
      returned = '',
      form = '',
      change = '',
      kept = '',
    ] = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
    return { field: field.replaceAll('`', ''), type, values, needed, returned, form, change, kept }
  })

const FACTS = new Map(
  [explainKind(CLICKHOUSE_CLOUD, 'Pipe')]
    .flatMap((whole) => (whole === undefined ? [] : withFields(whole)))
    .map((facts) => [facts.path.replace('Pipe.spec.', ''), facts]),
)

function factsOf(field: string) {
  const facts = FACTS.get(field)
  if (facts === undefined) throw new Error(`there is no ${field}`)
  return facts
}

/** The JSON Schema of a field. */
function schemaAt(field: string): Readonly<Record<string, unknown>> {
  let schema: unknown = kindJsonSchema(CLICKHOUSE_CLOUD, 'Pipe')
  for (const step of ['spec', ...field.split('.')]) {
    const name = step.replace('[]', '')
    const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {}
    schema = properties[name]
    if (step.endsWith('[]') && isObject(schema)) schema = schema['items']
  }
  if (!isObject(schema)) throw new Error(`there is no ${field}`)
  return schema
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
  pem: ['yes, but for spaces'],
  engine: ['yes, but for its arguments'],
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
    const leaves = [...FACTS.values()]
      .filter(
        ({ path, fields }) =>
          /^Pipe\.spec\.(?!.*\.secretRef)/.test(path) && fields.every(({ name }) => name === 'secretRef'),
      )
      .map(({ path }) => path.replace('Pipe.spec.', ''))
    expect(leaves.toSorted()).toEqual([...ROWS.map(({ field }) => field), 'service'].toSorted())
  })

  test.each(ROWS)('$field has the type $type', ({ field, type }) => {
    expect(TYPES[type.replace('?', '')]).toContain(factsOf(field).type)
  })

  test.each(ROWS)('$field is compared as $form', ({ field, form }) => {
    const { compared, fields } = factsOf(field)
    // of what may be a reference, as of any mapping, no more is said
    // a size was seen to be missing for a while, although the table says that it comes back
    const forms = FORMS[form] ?? []
    const said = field.startsWith('scaling.')
      ? forms.map((words) => `${words}, when the platform returns it`)
      : forms
    expect(fields.length > 0 && form !== 'none' ? ['field by field'] : said).toContain(compared)
  })

  test.each(ROWS)('$field is changed: $change', ({ field, change }) => {
    expect(factsOf(field).changed).toBe(CHANGES[change])
  })

  test.each(ROWS)('$field is needed: $needed', ({ field, needed }) => {
    const isNeeded = needed === 'yes' || IN_OBJECT.test(needed)
    expect(factsOf(field).isRequired).toBe(isNeeded && !NEEDED_OTHERWISE.has(field))
  })

  test.each(ROWS)('$field is kept back: $kept', ({ field, kept }) => {
    const { isSensitive, type } = factsOf(field)
    expect([isSensitive, type === 'reference to a secret']).toEqual([kept !== '', kept === 'secret'])
  })

  const listed = ROWS.filter(({ values }) => /^`[^`:]+`(?: `[^`]+`)*(?:;|$)/.test(values))
  test.each(listed)('$field takes $values', ({ field, values }) => {
    const words = [...(values.split(';')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, word]) => word)
    const schema = schemaAt(field)
    expect(schema['enum'] ?? [schema['const']]).toEqual(words)
  })

  const bounded = ROWS.filter(({ values }) =>
    /^(?:≥ )?[\d.]+(?:\.\.[\d.]+)?(?: characters)?(?:[ ;]|$)/.test(values),
  )
  test.each(bounded)('$field takes $values', ({ field, values }) => {
    const [, atLeast, from, to] = /^(≥ )?([\d.]+?)(?:\.\.([\d.]+))?(?: |;|$)/.exec(values) ?? []
    const schema = schemaAt(field)
    const least = schema['minimum'] ?? schema['minLength']
    expect(least).toBe(Number(from))
    const most = schema['maximum'] ?? schema['maxLength']
    expect(atLeast === undefined ? most : undefined).toBe(to === undefined ? undefined : Number(to))
  })

  test('of which some are listed, and some have bounds', () => {
    expect(listed.length).toBeGreaterThan(25)
    expect(bounded.length).toBeGreaterThan(25)
  })
})
