import { compareBody } from '../../kinds/compare-body.ts'
import { type Field, type Fields, fieldFor, isReturnedField } from '../../kinds/field-table.ts'
import type { Difference } from '../../kinds/difference.ts'
import { fieldsOf, type Profile } from '../../kinds/profile.ts'
import { SENSITIVE } from '../../kinds/mask.ts'
import { createLabels } from '../../kinds/record-pairs.ts'
import { isObject, type Json, type JsonObject } from '../../lib/json.ts'
import { bodyIn, type ResourceView } from '../../contract/view.ts'

const MOST_FIELDS = 1_000

const LONGEST = 500

export interface ComparedField {
  /** A list item is named by its key: `destination.columns[id].type`. */
  readonly field: string
  readonly desired: string | undefined
  readonly observed: string | undefined
  /**
   * `never-returned`: the platform never returns the field. `not-asked-for`: the manifest does not have it.
   * `not-seen`: this process has no reply. `not-compared`: there is no manifest, or the last check did not compare the
   * hidden value.
   */
  readonly verdict: 'same' | 'differs' | 'never-returned' | 'not-asked-for' | 'not-seen' | 'not-compared'
}

/**
 * `read`: this process has a reply. `read-before-start`: only an earlier process had one. `no-manifest`: there is no
 * valid manifest.
 */
export function comparisonOf(
  { status, reply, checkedAt }: ResourceView,
  body: JsonObject | undefined,
  startedAt: number,
): 'read' | 'read-before-start' | 'not-found' | 'never-read' | 'no-manifest' {
  if (status === 'Missing') return 'not-found'
  if (body === undefined) return 'no-manifest'
  if (reply !== undefined) return 'read'
  if (checkedAt === undefined) return 'never-read'
  return checkedAt < startedAt ? 'read-before-start' : 'not-found'
}

/** Compares again, because the last check might have used an earlier manifest. */
export function sideBySide(
  profile: Profile,
  resource: ResourceView,
  body: JsonObject | undefined,
): readonly ComparedField[] {
  const fields = fieldsOf(profile, resource.key)
  const seen = bodyIn(resource.reply)
  const desired = flatten(fields, body)
  const observed = flatten(fields, seen)
  const differences =
    body === undefined
      ? []
      : seen === undefined
        ? resource.differences.filter((one) => desired.get(one.field) === one.desired)
        : differencesNow(resource, { fields, body, seen, desired })
  const verdictOf = (field: string, want: string | undefined, have: string | undefined) => {
    if (want === undefined) return body === undefined ? 'not-compared' : 'not-asked-for'
    if (seen === undefined || have === undefined)
      return !isReturnedField(fields, field) ? 'never-returned' : seen === undefined ? 'not-seen' : 'same'
    return isHidden(want) && !wasCompared(resource) ? 'not-compared' : 'same'
  }
  const rest = [...new Set([...desired.keys(), ...observed.keys()])]
    .filter((path) => !differences.some(({ field }) => covers(field, path)))
    .map((field): ComparedField => {
      const [want, have] = [desired.get(field), observed.get(field)]
      return { field, desired: want, observed: have, verdict: verdictOf(field, want, have) }
    })
  const differing = differences.map((one): ComparedField => ({ ...one, verdict: 'differs' }))
  return [...differing, ...rest].slice(0, MOST_FIELDS)
}

/** Differences of hidden values are from the last check, because only a check knows the values. */
function differencesNow(
  resource: ResourceView,
  shown: {
    readonly fields: Fields
    readonly body: JsonObject
    readonly seen: JsonObject
    readonly desired: ReadonlyMap<string, string>
  },
): readonly Difference[] {
  const visible = compareBody(shown.fields, shown.body, shown.seen).filter(
    ({ desired }) => !desired.includes(REFERENCE),
  )
  const hidden = resource.differences.filter(
    ({ field }) =>
      isHidden(shown.desired.get(field) ?? '') && !visible.some((other) => other.field === field),
  )
  return [...hidden, ...visible]
}

const REFERENCE = '[secret '

function isHidden(text: string): boolean {
  return text.includes(SENSITIVE) || text.includes(REFERENCE)
}

function wasCompared({ conditions, differences }: ResourceView): boolean {
  const { status } = conditions.Synced
  return status === 'True' || (status === 'False' && differences.length > 0)
}

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
    if (value !== undefined && value !== null) put(fieldFor(fields, name, value), value, prefix + name, flat)
  }
}

function put(field: Field, value: Json, path: string, flat: Map<string, string>): void {
  const { keyedBy } = field
  if (flat.size >= MOST_FIELDS) return
  if ((field.form ?? keyedBy) === undefined && isObject(value)) {
    walk(field.fields, value, `${path}.`, flat)
  } else if (keyedBy !== undefined && Array.isArray(value)) {
    const labelOf = createLabels(keyedBy)
    for (const item of value) put({ ...field, keyedBy: undefined }, item, `${path}[${labelOf(item)}]`, flat)
  } else {
    flat.set(path, textOf(value))
  }
}

function textOf(value: Json): string {
  const texts = [value].flat().map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
  const text = texts.join(', ')
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}
