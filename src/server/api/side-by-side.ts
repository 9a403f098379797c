import { formOf, isRecords, isReturnedField, type Fields, type Form } from '../../kinds/field-table.ts'
import type { Difference } from '../../kinds/difference.ts'
import { fieldsOf } from '../../kinds/lookup.ts'
import { createLabels } from '../../kinds/record-pairs.ts'
import { isObject, type Json, type JsonObject } from '../../lib/json.ts'
import { bodyIn, type ResourceStatus } from '../../contract/status.ts'

/** More fields than anybody reads; differing ones come first and are always among them. */
const MOST_FIELDS = 1_000

/** Characters of one value. */
const LONGEST = 500

/** One field of a body, as the manifest asks for it and as the platform reports it. Texts, ready to be shown. */
export interface ComparedField {
  /** Dotted path; an item of a list is named by its key: `destination.columns[id].type`. */
  readonly field: string
  /** `undefined`: the manifest does not set it. */
  readonly desired: string | undefined
  /** `undefined`: the platform does not say it. */
  readonly observed: string | undefined
  /**
   * `differs`: drift. `never-returned`: the platform keeps it to itself. `not-asked-for`: the manifest leaves it open.
   * `not-seen`: the platform was not asked yet, or did not say.
   */
  readonly verdict: 'same' | 'differs' | 'never-returned' | 'not-asked-for' | 'not-seen'
}

/** Both bodies of a resource side by side: what differs first, then in the order of the manifest. */
export function sideBySide(
  resource: Pick<ResourceStatus, 'key' | 'observed' | 'differences'>,
  body: JsonObject | undefined,
): readonly ComparedField[] {
  const fields = fieldsOf(resource.key)
  const desired = flatten(fields, body)
  const observed = flatten(fields, bodyIn(resource.observed))
  const paths = [...new Set([...desired.keys(), ...observed.keys()])]
  const rest = paths
    .filter((path) => !resource.differences.some(({ field }) => covers(field, path)))
    .map((field) => comparedField(fields, field, desired.get(field), observed.get(field)))
  return [...resource.differences.map(differing), ...rest].slice(0, MOST_FIELDS)
}

function differing({ field, desired, observed }: Difference): ComparedField {
  return { field, desired, observed, verdict: 'differs' }
}

function comparedField(
  fields: Fields,
  field: string,
  desired: string | undefined,
  observed: string | undefined,
): ComparedField {
  return { field, desired, observed, verdict: verdictOf(fields, field, desired, observed) }
}

function verdictOf(
  fields: Fields,
  field: string,
  desired: string | undefined,
  observed: string | undefined,
): ComparedField['verdict'] {
  if (desired === undefined) return 'not-asked-for'
  if (observed !== undefined) return 'same'
  return isReturnedField(fields, field) ? 'not-seen' : 'never-returned'
}

/** Whether a difference is about this path or about something that it is a part of. */
function covers(field: string, path: string): boolean {
  return path === field || (path.startsWith(field) && /^[.[]/.test(path.slice(field.length)))
}

function flatten(fields: Fields, body: JsonObject | undefined): ReadonlyMap<string, string> {
  const flat = new Map<string, string>()
  if (body !== undefined) walk(fields, body, '', flat)
  return flat
}

function walk(fields: Fields, body: JsonObject, prefix: string, flat: Map<string, string>): void {
  for (const [name, value] of Object.entries(body)) {
    if (value !== undefined && value !== null) put(formOf(fields, name, value), value, prefix + name, flat)
  }
}

function put(form: Form, value: Json, path: string, flat: Map<string, string>): void {
  if (flat.size >= MOST_FIELDS) return
  if (typeof form === 'object' && !isRecords(form) && isObject(value)) {
    walk(form.fields, value, `${path}.`, flat)
  } else if (typeof form === 'object' && isRecords(form) && Array.isArray(value)) {
    const labelOf = createLabels(form.keyedBy)
    for (const item of value) put({ fields: form.fields }, item, `${path}[${labelOf(item)}]`, flat)
  } else {
    flat.set(path, textOf(value))
  }
}

function textOf(value: Json): string {
  const text = Array.isArray(value)
    ? value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join(', ')
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}
