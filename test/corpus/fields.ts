import type { Profile } from '../../src/kinds/profile.ts'
import { parseAllDocuments } from 'yaml'
import { kindJsonSchema } from '../../src/kinds/json-schema.ts'
import { MANIFEST_KINDS } from '../../src/kinds/lookup.ts'
import { isObject } from '../../src/lib/json.ts'
import type { CorpusCase } from './load.ts'

/** Every field that a manifest of any kind may have, as `Kind spec.source.kafka.topics`; fields of list items by `[]`. */
export function fieldsOfInterface(profile: Profile): readonly string[] {
  return MANIFEST_KINDS.flatMap((kind) =>
    fieldsOfSchema(kindJsonSchema(profile, kind), '').map((path) => `${kind} ${path}`),
  )
}

export function fieldsUsed(cases: readonly CorpusCase[]): ReadonlySet<string> {
  const used = new Set<string>()
  for (const { files } of cases)
    for (const text of Object.values(files))
      for (const document of documentsIn(text.toString('utf8')))
        for (const path of fieldsOfValue(document, '')) used.add(`${String(document['kind'])} ${path}`)
  return used
}

function documentsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  const documents = parseAllDocuments(text, { logLevel: 'silent' })
  return 'empty' in documents ? [] : documents.map((document): unknown => document.toJS()).filter(isObject)
}

function fieldsOfSchema(schema: unknown, path: string): readonly string[] {
  if (!isObject(schema)) return []
  const { properties, items, anyOf } = schema
  const branches = Array.isArray(anyOf) ? anyOf.flatMap((branch) => fieldsOfSchema(branch, path)) : []
  const inItems = fieldsOfSchema(items, `${path}[]`)
  const fields = Object.entries(isObject(properties) ? properties : {}).flatMap(([name, inner]) => {
    const below = path === '' ? name : `${path}.${name}`
    return [below, ...fieldsOfSchema(inner, below)]
  })
  return [...branches, ...inItems, ...fields]
}

function fieldsOfValue(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOfValue(item, `${path}[]`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const below = path === '' ? name : `${path}.${name}`
    return [below, ...fieldsOfValue(inner, below)]
  })
}
