import type { z } from 'zod'
import { ownWords, typeName } from '../../kinds/type-words.ts'
import { isObject } from '../../lib/json.ts'
import type { Path } from '../diagnostics/diagnostic.ts'
import { withoutSecrets } from '../../lib/sensitive.ts'
import { MASK } from '../diagnostics/mask-lines.ts'
import { printable } from '../../lib/shown-text.ts'

const FORMATS: Readonly<Record<string, string>> = {
  guid: 'a UUID, such as "0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11"',
  uuid: 'a UUID, such as "0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11"',
  datetime: 'a timestamp with a zone, such as "2027-01-31T00:00:00Z"',
  url: 'a URL',
}

/** What a text has to look like. */
export function formatWords(issue: z.core.$ZodIssueInvalidStringFormat): string {
  const format = FORMATS[issue.format]
  return (
    ownWords(issue.message) ?? (format === undefined ? 'does not have the right form' : `must be ${format}`)
  )
}

/** What a field that is missing has to be: its format where it has one, or its type. */
export function wantedWords(expected: string, format: string | undefined): string {
  return FORMATS[format ?? ''] ?? typeName(expected)
}

/** How to write a value of the type that is expected at this place. */
export function typeHint(expected: string, input: unknown, path: Path): string {
  const ours = path[0] === 'policy' ? path.at(-1) : undefined
  if (input === null) return 'Give it a value, or remove the field.'
  if (ours === 'interval') return `Write a duration with its unit${durationExample(input)}.`
  if (ours === 'suspend')
    return 'Write {reason: planned migration, until: "2027-01-31T00:00:00Z"}. To resume, remove the field.'
  if (expected === 'string') return textHint(input, path)
  if ((expected === 'number' || expected === 'int') && typeof input === 'string')
    return isNumeral(input)
      ? 'Write the number without quotes.'
      : 'Write a number alone, such as 4: no unit, no words.'
  if (expected === 'int' && typeof input === 'number') return 'Write a whole number.'
  if (expected === 'boolean') return 'Write true or false, without quotes.'
  if (expected === 'array')
    return isObject(input) ? 'Put "- " before each item of the list.' : 'Write a list: [first, second].'
  if (expected === 'object' || expected === 'record')
    return Array.isArray(input)
      ? 'Write fields instead of a list, without [ ] or "- ".'
      : 'Write its fields below it, each on a line of its own, indented by two more spaces.'
  return `Write ${typeName(expected)}.`
}

function durationExample(input: unknown): string {
  const isPlain = typeof input === 'number' && Number.isSafeInteger(input) && input > 0
  return isPlain ? `: ${input}s, ${input}m or ${input}h` : ', such as 30s, 10m or 1h'
}

/** Texts of several values. */
const COMMA_LISTS: ReadonlySet<unknown> = new Set(['brokers', 'topics', 'allowedOrigins'])

function textHint(input: unknown, path: Path): string {
  if (typeof input === 'number' || typeof input === 'boolean') return 'Put it in quotes.'
  if (Array.isArray(input))
    return `Write one text without [ ] or "- "${COMMA_LISTS.has(path.at(-1)) ? '; put commas between several values' : ''}.`
  return 'Write text after the ":", and no fields below it.'
}

/** How to write a value of the form that this field has. */
export function formatHint(path: Path, format: string | undefined): string {
  const field = path.slice(0, 2).join('.')
  return FORMAT_HINTS[format ?? ''] ?? FIELD_HINTS[field] ?? 'Replace the value by one of that form.'
}

const FORMAT_HINTS: Readonly<Record<string, string>> = {
  guid: 'Copy the whole id: 32 hexadecimal digits in groups of 8-4-4-4-12.',
  uuid: 'Copy the whole id: 32 hexadecimal digits in groups of 8-4-4-4-12.',
  datetime: 'Write date, time and zone, and put the text in quotes.',
  url: 'Write the whole address, such as "https://host.example/path".',
}

const FIELD_HINTS: Readonly<Record<string, string>> = {
  'metadata.name': 'Write it in lower case, without spaces and "_".',
  'spec.pipes': 'Divide them among several Locks, each in a file of its own named *.lock.yaml.',
  'metadata.labels': 'Write letters, digits, "-", "_" and ".", with a letter or a digit first and last.',
  'policy.suspend': 'Delete what cannot be seen, or type the text again.',
  'policy.interval': 'Write a number and a unit: s, m, h or d.',
  'policy.dependsOn': 'Write the kind, "/" and the name of the resource.',
  'policy.renamedFrom': 'Write the kind, "/" and the former name.',
  'policy.replaces': 'Write the kind, "/" and the name of the other pipe.',
}

function isNumeral(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text))
}

/** A path for people, such as `spec.fieldMappings[2]`. */
export function nameOf(path: Path): string {
  if (path.length === 0) return 'The manifest'
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${short(step)}`))
    .join('')
}

/** A short text in quotes, safe to print. */
export function quote(text: string): string {
  return `"${short(text)}"`
}

function short(text: string): string {
  // Before it is cut: of half a URL nobody sees that it has a password.
  const safe = printable(withoutSecrets(text, MASK))
  return safe.length > 64 ? `${safe.slice(0, 63)}…` : safe
}
