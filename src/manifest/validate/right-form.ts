import type { z } from 'zod'
import { MANIFEST_KINDS, RESOURCE_KINDS } from '../../kinds/lookup.ts'
import { ResourceName } from '../../kinds/manifest.ts'
import { isQuotedReference } from '../../kinds/secret-ref.ts'
import { isObject } from '../../lib/json.ts'
import type { Path } from '../diagnostics/diagnostic.ts'
import { looksSensitive } from '../diagnostics/mask-lines.ts'
import { dashBefore } from '../yaml/look-alikes.ts'
import { accepts, isOptional, knownFields } from './known-fields.ts'
import { plainText } from './shape-words.ts'

/* The right form of a value that has a wrong one, with what the author wrote in it. Each gives a hint, or undefined. */

interface Value {
  readonly path: Path
  readonly input: unknown
  readonly schema: z.ZodType
}

/** For a value of a wrong type. @param expected as zod names it */
export function typedForm(expected: string, value: Value): string | undefined {
  if (value.path.some((step) => looksSensitive(String(step)))) return undefined
  if (expected === 'array') return listForm(value)
  if (expected === 'string') return textForm(value)
  if (expected === 'object' || expected === 'record') return mappingForm(value)
  if (expected === 'int' && typeof value.input === 'number') return wholeForm(value.input, value)
  const [only, ...more] = Array.isArray(value.input) ? value.input : []
  const text = plainText(only)
  return text === undefined || more.length > 0 ? undefined : `Write it without [ ] and "- ": ${text}.`
}

/** For a reference in quotes. */
export function withoutQuotes(input: unknown): string | undefined {
  if (typeof input !== 'string' || !isQuotedReference(input)) return undefined
  return input.trimStart().startsWith('{')
    ? 'Remove the quotes around it.'
    : 'Write { and } in place of the quotes.'
}

/** For a text whose form is wrong. */
export function textualForm({ path, input }: Pick<Value, 'path' | 'input'>): string | undefined {
  const unquoted = withoutQuotes(input)
  if (unquoted !== undefined) return unquoted
  if (typeof input !== 'string' || plainText(input) === undefined) return undefined
  const field = path.slice(0, 2).join('.')
  if (field === 'metadata.name' || field === 'spec.service') return nameForm(input)
  if (KEYS.has(field)) return keyForm(input, field)
  return path.at(-1) === 'host' ? hostForm(input) : undefined
}

/** For a fraction, its two neighbours, as far as they may stand there. */
function wholeForm(input: number, { path, schema }: Value): string | undefined {
  const near = [Math.floor(input), Math.ceil(input)].filter((whole) => accepts(schema, path, whole))
  return near.length === 0 ? undefined : `Write ${near.map((whole) => whole + 0).join(' or ')}.`
}

function listForm({ path, input, schema }: Value): string | undefined {
  const fields = knownFields(schema, [...path, 0])
  if (isObject(input)) return listOfMapping(input, fields)
  if (typeof input === 'string' && /^-\S/.test(input)) return 'Write "- ", with a space, before each item.'
  const dash = typeof input === 'string' ? dashBefore(input) : undefined
  if (dash !== undefined) return dash
  const text = plainText(input)
  if (text === undefined) return undefined
  if (fields.length > 0) return `Write a list of items: - ${itemOf(text, fields) ?? `{${fields[0]}: …}`}.`
  const items = text.split(',').map((item) => item.trim())
  if (path.join('.') === 'policy.dependsOn' && !items.every((item) => item.includes('/')))
    return `Write a list, each item with its kind: [${items.map(withKind).join(', ')}], or whichever kind it is.`
  return `Write a list: [${items.join(', ')}].`
}

function withKind(item: string): string {
  return item.includes('/') ? item : `Alert/${item}`
}

function listOfMapping(
  input: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): string | undefined {
  const names = Object.keys(input)
  const [first] = names
  if (first === undefined) return undefined
  if (names.every((name) => fields.includes(name)))
    return `Write "- " before "${first}", and indent the fields below it by two more spaces.`
  const item = itemOf(`${first} ${plainText(input[first]) ?? ''}`.trim(), fields)
  return item === undefined ? undefined : `Write one item for each: - ${item}.`
}

/** An item with two fields, of one or two words: `id UUID`. */
function itemOf(text: string, [first, second, third]: readonly string[]): string | undefined {
  if (first === undefined || second === undefined || third !== undefined) return undefined
  const space = text.search(/[ :]/)
  const [left, right] = space === -1 ? [text, ''] : [text.slice(0, space), text.slice(space + 1).trim()]
  if (plainText(left) === undefined) return undefined
  return `{${first}: ${inBraces(left)}, ${second}: ${right === '' ? '…' : inBraces(right)}}`
}

function inBraces(text: string): string {
  return /[,[\]{}#:]/.test(text) ? JSON.stringify(text) : text
}

/** Texts of several values. */
const COMMA_LISTS: ReadonlySet<unknown> = new Set(['brokers', 'topics', 'allowedOrigins'])

function textForm({ path, input }: Value): string | undefined {
  const field = path.slice(0, 2).join('.')
  if (isObject(input)) {
    const key = KEYS.has(field) ? keyOfMapping(input) : undefined
    const name = field === 'spec.service' ? plainText(input['name']) : undefined
    return name === undefined ? key && `Write "${key}".` : `Write the name alone: ${name}.`
  }
  if (!Array.isArray(input) || input.length === 0 || input.length > 20) return undefined
  const items = input.map(plainText)
  if (items.includes(undefined)) return undefined
  if (items.length === 1) return `Write one text without [ ] or "- ": ${items.join('')}.`
  if (!COMMA_LISTS.has(path.at(-1))) return undefined
  return `Write one text without [ ] or "- ", with commas between the values: ${items.join(',')}.`
}

function keyOfMapping(input: Readonly<Record<string, unknown>>): string | undefined {
  const names = Object.keys(input)
  const [kind, name] = names.length === 1 ? [names[0], input[names[0] ?? '']] : [input['kind'], input['name']]
  const known = RESOURCE_KINDS.find((each) => each === kind)
  return known === undefined || plainText(name) === undefined ? undefined : `${known}/${String(name)}`
}

function mappingForm({ path, input, schema }: Value): string | undefined {
  const fields = knownFields(schema, path)
  if (input === null) {
    const below = 'Write its fields below it, each on a line of its own, indented by two more spaces'
    return isOptional(schema, path) ? `${below}; or remove the field.` : `${below}.`
  }
  const isLabels = path.join('.') === 'metadata.labels'
  const text = plainText(isLabels && Array.isArray(input) ? input[0] : input)
  if (text === undefined) return undefined
  if (isLabels) return `Write names with values, such as {team: ${inBraces(text)}}.`
  const item = typeof path.at(-1) === 'number' ? itemOf(text, fields) : undefined
  if (item !== undefined) return `Write ${item}.`
  return path.join('.') === 'metadata' && ResourceName.safeParse(text).success
    ? `Write {name: ${text}}.`
    : undefined
}

/** A name without a kind before it, in lower case, and with hyphens. */
function nameForm(text: string): string | undefined {
  const bare = text.slice(text.lastIndexOf('/') + 1)
  const name = bare
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replace(/^[-.]/, '')
    .replace(/[-.]$/, '')
  if (name === text || !ResourceName.safeParse(name).success) return undefined
  return bare === name
    ? `Write the name alone: ${name}.`
    : `Write it in lower case, without spaces and "_": ${name}.`
}

/** Fields that name a resource by its key. */
const KEYS: ReadonlySet<string> = new Set(['policy.dependsOn', 'policy.renamedFrom', 'policy.replaces'])

function keyForm(text: string, field: string): string | undefined {
  const slash = text.indexOf('/')
  const name = text.slice(slash + 1)
  if (!ResourceName.safeParse(name).success) return undefined
  const kind = text.slice(0, Math.max(0, slash)).toLowerCase()
  const known = MANIFEST_KINDS.find((each) => each.toLowerCase() === kind)
  if (known !== undefined) return `Write "${known}/${name}".`
  if (field !== 'policy.dependsOn') return `Write "Pipe/${name}".`
  return `Write the kind, "/" and the name of the resource, such as "Alert/${name}" or "Pipe/${name}".`
}

/** A host without scheme, port and path; what has a user in it is not repeated. */
function hostForm(text: string): string | undefined {
  if (text.includes('@')) return undefined
  const [, host, port] =
    /^(?:[a-z][a-z0-9+.-]{0,20}:\/\/)?([A-Za-z0-9._-]+)(?::(\d{1,5}))?(?:\/|$)/i.exec(text) ?? []
  if (host === undefined || host === text) return undefined
  return `Write host: ${host}${port === undefined ? '' : ` and port: ${port}`}.`
}
