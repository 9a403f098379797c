import { isObject, type JsonObject } from '../lib/json.ts'
import { compareBody } from './compare-body.ts'
import { isRecords, plainForm, type Fields, type ObjectForm, type RecordsForm } from './field-table.ts'
import { comparedBody } from './remote-resource.ts'

/** Fields that identify a resource across edits. */
export type Identity = Fields & { readonly source: ObjectForm; readonly destination: ObjectForm }

const SOURCE = 'source.'

export function pickFields<F extends Fields, Name extends keyof F>(
  fields: F,
  ...names: Name[]
): Pick<F, Name> {
  const picked: Partial<Pick<F, Name>> = {}
  for (const name of names) picked[name] = fields[name]
  return picked as Pick<F, Name> // each name is set
}

/** A list's tables with their destinations. */
export function tablesOf({ keyedBy, fields }: RecordsForm): RecordsForm {
  return { keyedBy, fields: pickFields(fields, ...keyedBy, 'targetTable') }
}

/** A list of objects is one path. */
export function identityPaths(identity: Identity): readonly string[] {
  const paths: string[] = []
  addPaths(paths, identity, '')
  return paths
}

function addPaths(paths: string[], fields: Fields, prefix: string): void {
  for (const [name, field] of Object.entries(fields)) {
    const form = plainForm(field)
    if (typeof form === 'string' || isRecords(form)) paths.push(`${prefix}${name}`)
    else addPaths(paths, form.fields, `${prefix}${name}.`)
  }
}

/** By dotted path; for example hashes. */
type Values = Readonly<Record<string, string>>

/** The source as text. Undefined: no source. */
export function sourceIn(paths: readonly string[], values: Values): string | undefined {
  const set = paths.filter((path) => path.startsWith(SOURCE) && values[path] !== undefined)
  return set.length === 0 ? undefined : set.map((path) => `${path}=${values[path]}`).join('\n')
}

/** Same source and destination. A destination field missing on one side might be the default. */
export function isSameIdentity(paths: readonly string[], a: Values, b: Values): boolean {
  const source = sourceIn(paths, a)
  const differs = (path: string) => a[path] !== undefined && b[path] !== undefined && a[path] !== b[path]
  return source !== undefined && source === sourceIn(paths, b) && !paths.some(differs)
}

/** Same source and destination as the body's. Quick for most other resources. */
export function identityCheck(identity: Identity, asked: JsonObject): (there: JsonObject) => boolean {
  const body = comparedBody(identity, asked)
  const isNamed = Object.values(body['source'] ?? {}).some(
    (kind) => isObject(kind) && Object.keys(kind).length > 0,
  )
  const plain = withoutLists(body)
  return (there) =>
    isNamed &&
    compareBody(identity, plain, there).length === 0 &&
    compareBody(identity, body, there).length === 0
}

function withoutLists(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      if (Array.isArray(value)) return []
      return [[name, value !== undefined && isObject(value) ? withoutLists(value) : value]]
    }),
  )
}
