import type { YAMLError } from 'yaml'
import type { Statement } from '../diagnostics/diagnostic.ts'

type Words = Omit<Statement, 'severity'>

export const SYNTAX = 'yaml-syntax'

export const BAD_DIRECTIVE: Words = {
  code: 'yaml-version',
  message: 'This directive is not YAML 1.2.',
  hint: 'Remove the line; manifests are YAML 1.2.',
}

const BAD_TAG: Words = {
  code: 'yaml-tag',
  message: 'This tag is not known, or does not fit its value.',
  hint: 'Remove the tag, or resolve it first with the program that knows it.',
}

/** Errors that can follow from an earlier error. */
const NOT_EXPECTED: Words = {
  code: SYNTAX,
  message: 'The text is not valid YAML here.',
  hint: 'Look for a missing quote, bracket, comma, ":" or space on this line or before it.',
}
const BAD_INDENT: Words = {
  code: SYNTAX,
  message: 'The indentation is wrong here.',
  hint: 'Give fields of one mapping, and items of one list, the same number of spaces.',
}
export const ECHOES: readonly string[] = [NOT_EXPECTED.message, BAD_INDENT.message]

const WORDS: Partial<Readonly<Record<YAMLError['code'], Words>>> = {
  BAD_ALIAS: {
    code: 'yaml-style',
    message: 'An alias or anchor has an empty or ambiguous name.',
    hint: 'Put a text that begins with "*" or "&" in quotes.',
  },
  BAD_DIRECTIVE,
  BAD_DQ_ESCAPE: {
    code: SYNTAX,
    message: 'A double-quoted text holds an unknown escape.',
    hint: 'Write "\\\\" for a backslash, or use single quotes.',
  },
  BAD_INDENT,
  BAD_SCALAR_START: {
    code: SYNTAX,
    message: 'A text begins with a character that has a meaning of its own in YAML.',
    hint: 'Put the text in quotes.',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    code: SYNTAX,
    message: 'A mapping or list cannot begin here.',
    hint: 'Indent this line and the next line like their neighbours, or put a value with ": " in quotes.',
  },
  MULTILINE_IMPLICIT_KEY: {
    code: SYNTAX,
    message: 'The name of a field goes over several lines.',
    hint: 'Look for a ":", with a space after it, that is missing on this line.',
  },
  NON_STRING_KEY: {
    code: 'yaml-key',
    message: 'The name of a field is not plain text.',
    hint: 'Name it by a text; a template such as {{ … }} must be filled in first.',
  },
  TAB_AS_INDENT: { code: SYNTAX, message: 'A tab is used as indentation.', hint: 'Use spaces.' },
  TAG_RESOLVE_FAILED: BAD_TAG,
  BAD_COLLECTION_TYPE: BAD_TAG,
}

/** Beginnings of parser messages, and the opener without an end. */
const OPENERS = [
  ['Missing closing "quote', '"'],
  ["Missing closing 'quote", "'"],
  ['Flow map in block collection', '{'],
  ['Expected flow map to end with', '{'],
  ['Flow sequence in block collection', '['],
  ['Expected flow sequence to end with', '['],
] as const

export function openerOf({ message }: YAMLError): string | undefined {
  return OPENERS.find(([beginning]) => message.startsWith(beginning))?.[1]
}

/** The parser's messages can quote the source, and with it a secret. */
export function wordsOn(error: YAMLError): Words {
  const opener = openerOf(error)
  if (opener === undefined) return WORDS[error.code] ?? NOT_EXPECTED
  return opener === '"' || opener === "'"
    ? { code: SYNTAX, message: 'This quote is not closed.', hint: 'Add the closing quote.' }
    : {
        code: SYNTAX,
        message: `This "${opener}" is not closed, or its content is not indented.`,
        hint: `Add the "${opener === '{' ? '}' : ']'}", and indent the content.`,
      }
}
