import type { z } from 'zod'
import { fieldAt } from '../../kinds/field-table.ts'
import { ResourceName } from '../../kinds/manifest.ts'
import type { Profile } from '../../kinds/profile.ts'
import { ownWords, typeName } from '../../kinds/left-out.ts'
import { valueAt } from '../../lib/json.ts'
import { withoutSecrets } from '../../lib/sensitive.ts'
import { printable } from '../../lib/shown-text.ts'
import type { Path, FieldFinding, Statement } from '../../kinds/finding.ts'
import { MASK } from '../diagnostics/mask-lines.ts'

export interface Context {
  readonly profile: Profile
  readonly schema: z.ZodType
  /** The document. Values that might be secret are never shown. */
  readonly input: unknown
  readonly most: number
}

export function valueFinding(
  path: Path,
  code: Statement['code'],
  message: string,
  hint: string,
): FieldFinding {
  return { severity: 'error', path, code, message, hint }
}

export function issuePathOf({ path }: z.core.$ZodIssue): Path {
  return path.map((step) => (typeof step === 'symbol' ? String(step) : step))
}

const A_UUID = 'a UUID, such as "0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11"'

const FORMATS: Readonly<Record<string, string>> = {
  guid: A_UUID,
  uuid: A_UUID,
  datetime: 'a timestamp with a zone, in quotes, such as "2027-01-31T00:00:00Z"',
  url: 'a whole URL, such as "https://host.example/path"',
}

export function formatWords(issue: z.core.$ZodIssueInvalidStringFormat): string {
  const format = FORMATS[issue.format]
  return ownWords(issue.message) ?? (format === undefined ? 'has the wrong form' : `must be ${format}`)
}

export function wantedWords(expected: string, format: string | undefined): string {
  return FORMATS[format ?? ''] ?? typeName(expected)
}

const FIELDS_BELOW =
  'Write a mapping: each field on a line of its own, indented by two more spaces, without "- ".'

const TYPE_HINTS: Readonly<Record<string, string>> = {
  string: 'Write one text, in quotes.',
  number: 'Write a number, without quotes or a unit.',
  int: 'Write a whole number, without quotes or a unit.',
  boolean: 'Write true or false, without quotes.',
  array: 'Write a list: [first, second].',
  object: FIELDS_BELOW,
  record: FIELDS_BELOW,
}

const FIELD_HINTS: Readonly<Record<string, string>> = {
  'metadata.name': 'Write it in lower case, without spaces and "_", in quotes.',
  'metadata.labels.*': 'Write letters, digits, "-", "_" and ".", with a letter or a digit first and last.',
  'policy.interval': 'Write a number and a unit: s, m, h or d.',
  'policy.suspend': 'Write {reason: planned migration, until: "2027-01-31T00:00:00Z"}.',
  'policy.suspend.*': 'Write the zone as Z or +01:00.',
  'policy.dependsOn.*': 'Write the key of the resource, such as Pipe/orders.',
  'policy.renamedFrom': 'Write the former key, such as Pipe/orders.',
  'policy.replaces': 'Write the key of the other pipe, such as Pipe/orders, or its id.',
}

export function typeHint(expected: string, path: Path, { profile, input }: Context): string {
  if (valueAt(input, path) === null) return 'Give it a value.'
  const kind = profile.kinds.find(({ name }) => name === valueAt(input, ['kind']))
  const fields = kind !== undefined && 'fields' in kind ? kind.fields : {}
  const isCommaList = fieldAt(fields, path.slice(1).map(String))?.form === 'comma-list'
  if (isCommaList) return 'Write one text, in quotes, with commas between the items.'
  return FIELD_HINTS[path.join('.')] ?? TYPE_HINTS[expected] ?? `Write ${typeName(expected)}.`
}

export function formatHint(path: Path, input: unknown): string {
  const [top, field, ...more] = path
  const name = path.join('.') === 'metadata.name' ? String(input).toLowerCase() : ''
  const { success, data } = ResourceName.safeParse(name.replaceAll(/[\s_]+/g, '-'))
  if (success) return `Write ${quote(data)}.`
  return FIELD_HINTS[`${top}.${field}${more.length > 0 ? '.*' : ''}`] ?? 'Write a value of that form.'
}

export function pathWords(path: Path): string {
  if (path.length === 0) return 'The manifest'
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${short(step)}`))
    .join('')
}

export function quote(text: string): string {
  return `"${short(text)}"`
}

function short(text: string): string {
  // Masks before it cuts, because the mask does not recognize a password in half a URL.
  const safe = printable(withoutSecrets(text, MASK))
  return safe.length > 64 ? `${safe.slice(0, 63)}…` : safe
}

/** Tells that the API description lacks a value of `spec`. Empty for other values. */
export function documentWords(path: Path, { profile: { document }, input }: Context): string {
  const isOurs = path[0] !== 'spec' || valueAt(input, ['kind']) === 'Service' || document === undefined
  return isOurs ? '' : `: it is not in the API description of ${document}`
}
