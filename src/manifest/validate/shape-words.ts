import type { z } from 'zod'
import { isObject } from '../../lib/json.ts'
import type { Path } from '../diagnostics/diagnostic.ts'
import { printable } from '../diagnostics/source-text.ts'

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

/** Messages that our schemas give begin with "must"; zod's own are for programmers. */
export function ownWords(message: string): string | undefined {
  return message.startsWith('must ') ? message : undefined
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
}

/** A type of zod's, for people. */
export function typeName(expected: string): string {
  return TYPES[expected] ?? expected
}

/** The type of a value; never the value. */
export function inputName(input: unknown): string {
  if (input === null) return 'empty'
  if (Array.isArray(input)) return 'a list'
  if (typeof input === 'number' && !Number.isFinite(input)) return 'not a finite one'
  if (typeof input === 'number') return Number.isSafeInteger(input) ? 'a whole number' : 'a number'
  if (typeof input === 'boolean') return 'true or false'
  return typeof input === 'string' ? 'text' : 'a mapping'
}

/** How to write a value of the type that is expected. */
export function typeHint(expected: string, input: unknown): string {
  if (input === null) return 'Give it a value, or remove the field.'
  if (expected === 'string' && (typeof input === 'number' || typeof input === 'boolean'))
    return 'Put it in quotes.'
  if ((expected === 'number' || expected === 'int') && typeof input === 'string')
    return isNumeral(input)
      ? 'Write the number without quotes.'
      : 'Write a number alone, such as 4: no unit, no words.'
  if (expected === 'int' && typeof input === 'number') return 'Write a whole number that is not too large.'
  if (expected === 'boolean') return 'Write true or false, without quotes.'
  if (expected === 'array' && !isObject(input)) return 'Write a list: [first, second].'
  return `Write ${typeName(expected)}.`
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
  const safe = printable(text)
  return safe.length > 64 ? `${safe.slice(0, 63)}…` : safe
}
