import { isObject, type JsonObject } from '../lib/json.ts'
import { compareBody } from './compare-body.ts'
import { isRecords, plainForm, type Fields, type ObjectForm, type RecordsForm } from './field-table.ts'
import { comparedBody } from './remote-resource.ts'

/** The fields that make a resource that one, whatever else is edited: the source that it reads, and where it writes. */
export type Identity = Fields & { readonly source: ObjectForm; readonly destination: ObjectForm }

const SOURCE = 'source.'

/** Some fields of a table. */
export function pickFields<F extends Fields, Name extends keyof F>(
  fields: F,
  ...names: Name[]
): Pick<F, Name> {
  const picked: Partial<Pick<F, Name>> = {}
  for (const name of names) picked[name] = fields[name]
  return picked as Pick<F, Name> // each name is set
}

/** Of a list of tables which ones they are, and where each is written. */
export function tablesOf({ keyedBy, fields }: RecordsForm): RecordsForm {
  return { keyedBy, fields: pickFields(fields, ...keyedBy, 'targetTable') }
}

/** The dotted paths of its fields; a list of objects is one. */
export function identityPaths(identity: Identity): readonly string[] {
  return pathsIn(identity, '')
}

function pathsIn(fields: Fields, prefix: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const form = plainForm(field)
    const path = `${prefix}${name}`
    return typeof form === 'string' || isRecords(form) ? [path] : pathsIn(form.fields, `${path}.`)
  })
}

/** Values by the dotted paths of fields, such as their hashes. */
type Values = Readonly<Record<string, string>>

/** The values of its fields, in a text; undefined: they name no source. */
export function identityIn(paths: readonly string[], values: Values): string | undefined {
  const set = paths.filter((path) => values[path] !== undefined)
  if (!set.some((path) => path.startsWith(SOURCE))) return undefined
  return set.map((path) => `${path}=${values[path]}`).join('\n')
}

/** Whether a resource of the platform has the source and the destination that a body asks for. */
export function hasIdentity(identity: Identity, asked: JsonObject, there: JsonObject): boolean {
  const body = comparedBody(identity, asked)
  const isNamed = Object.values(body['source'] ?? {}).some(
    (kind) => isObject(kind) && Object.keys(kind).length > 0,
  )
  return isNamed && compareBody(identity, body, there).length === 0
}
