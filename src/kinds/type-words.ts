/* Values are never shown, because they might be secret. */

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
}

export function typeName(expected: string): string {
  return TYPES[expected] ?? expected
}

export function inputName(input: unknown): string {
  if (input === null) return 'empty'
  if (Array.isArray(input)) return 'a list'
  if (typeof input === 'number' && !Number.isFinite(input)) return 'infinite, or NaN'
  if (typeof input === 'number') return Number.isSafeInteger(input) ? 'a whole number' : 'a number'
  if (typeof input === 'boolean') return 'true or false'
  return typeof input === 'string' ? 'text' : 'a mapping'
}

/** Returns only messages that Pipewright wrote: these begin with "must". Messages of zod are for programmers. */
export function ownWords(message: string): string | undefined {
  return message.startsWith('must ') ? message : undefined
}
