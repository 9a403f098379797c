import type { YAMLError } from 'yaml'
import type { Statement } from '../diagnostics/diagnostic.ts'

interface Words {
  readonly code: Statement['code']
  readonly message: string
  readonly hint: string
}

export const SYNTAX = 'yaml-syntax'

/** What we say of each thing that the parser says. */
export const WORDS: Readonly<Record<YAMLError['code'], Words>> = {
  ALIAS_PROPS: {
    code: SYNTAX,
    message: 'An alias carries a tag or an anchor.',
    hint: 'Remove it; only what the alias refers to may have one.',
  },
  BAD_ALIAS: {
    code: 'yaml-style',
    message: 'An alias or anchor has an empty or ambiguous name.',
    hint: 'Give it a name of letters and digits.',
  },
  BAD_DIRECTIVE: {
    code: 'yaml-version',
    message: 'This directive is not YAML 1.2.',
    hint: 'Remove the line; manifests are YAML 1.2.',
  },
  BAD_DQ_ESCAPE: {
    code: SYNTAX,
    message: 'A double-quoted text holds an unknown escape.',
    hint: 'Write "\\\\" for a backslash, or use single quotes.',
  },
  BAD_INDENT: {
    code: SYNTAX,
    message: 'The indentation is wrong here.',
    hint: 'Give fields of one mapping, and items of one list, the same number of spaces.',
  },
  BAD_PROP_ORDER: {
    code: SYNTAX,
    message: 'A tag or anchor stands at the wrong place.',
    hint: 'Put it after the "-", "?" or ":", or remove it.',
  },
  BAD_SCALAR_START: {
    code: SYNTAX,
    message: 'A text begins with a character that has a meaning of its own in YAML.',
    hint: 'Put the text in quotes.',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    code: SYNTAX,
    message: 'A mapping or list begins where none can.',
    hint: 'Indent this line and the next one like their neighbours, or put a value with ": " in quotes.',
  },
  BLOCK_IN_FLOW: {
    code: SYNTAX,
    message: 'Indented YAML stands inside {…} or […].',
    hint: 'Close the bracket first, or write the value in brackets as well.',
  },
  DUPLICATE_KEY: {
    code: 'duplicate-field',
    message: 'This field is there twice.',
    hint: 'Remove one of the two.',
  },
  IMPOSSIBLE: {
    code: SYNTAX,
    message: 'The text cannot be read as YAML here.',
    hint: 'Look at this line and the one before it.',
  },
  KEY_OVER_1024_CHARS: {
    code: SYNTAX,
    message: 'The name of a field is over 1024 characters long.',
    hint: 'Look for a ":" that is missing or one too many.',
  },
  MISSING_CHAR: {
    code: SYNTAX,
    message: 'A character is missing here.',
    hint: 'Look for a missing quote, bracket, comma, ":" or space on this line or before it.',
  },
  MULTILINE_IMPLICIT_KEY: {
    code: SYNTAX,
    message: 'The name of a field goes over several lines.',
    hint: 'Look for a ":", with a space after it, that is missing on this line.',
  },
  MULTIPLE_ANCHORS: { code: SYNTAX, message: 'A value has more than one anchor.', hint: 'Keep one.' },
  MULTIPLE_DOCS: {
    code: SYNTAX,
    message: 'A new document begins without "---".',
    hint: 'Put "---" on a line between two documents.',
  },
  MULTIPLE_TAGS: { code: SYNTAX, message: 'A value has more than one tag.', hint: 'Remove the tags.' },
  NON_STRING_KEY: {
    code: 'yaml-key',
    message: 'The name of a field is not plain text.',
    hint: 'Name it by a text; a template such as {{ … }} must be filled in first.',
  },
  RESOURCE_EXHAUSTION: {
    code: 'too-deep',
    message: 'Collections are nested too deeply.',
    hint: 'Flatten the document.',
  },
  TAB_AS_INDENT: { code: SYNTAX, message: 'A tab is used as indentation.', hint: 'Use spaces.' },
  TAG_RESOLVE_FAILED: {
    code: 'yaml-tag',
    message: 'This tag is not known, or does not fit its value.',
    hint: 'Remove the tag; manifests need none.',
  },
  UNEXPECTED_TOKEN: {
    code: SYNTAX,
    message: 'This is not expected here.',
    hint: 'Look for a missing quote, bracket or comma before it.',
  },
  BAD_COLLECTION_TYPE: {
    code: 'yaml-tag',
    message: 'This tag does not fit its value.',
    hint: 'Remove the tag; manifests need none.',
  },
}

/** Messages of the parser that quote nothing and say more than their code; by how they begin. */
const BETTER: readonly (readonly [beginning: string, message: string, hint: string, opener?: string])[] = [
  [
    'Missing closing "quote',
    'The double quote that opens this text is not closed.',
    'Add the closing quote.',
    '"',
  ],
  [
    "Missing closing 'quote",
    'The single quote that opens this text is not closed.',
    'Add the closing quote; inside, write it twice.',
    "'",
  ],
  [
    'Implicit map keys need to be followed by map values',
    'A field has a name but no ":".',
    'Write "name: value".',
  ],
  ['Missing , ', 'A comma is missing between two items.', 'Add the comma.'],
  [
    'Flow map in block collection',
    'This "{" is not closed, or its content is not indented.',
    'Add the "}", and indent what is inside.',
    '{',
  ],
  [
    'Flow sequence in block collection',
    'This "[" is not closed, or its content is not indented.',
    'Add the "]", and indent what is inside.',
    '[',
  ],
  ['Expected flow map to end with', 'This "{" is not closed.', 'Add the "}".', '{'],
  ['Expected flow sequence to end with', 'This "[" is not closed.', 'Add the "]".', '['],
  ['Alias cannot be an empty string', 'A "*" alone is an alias without a name.', 'Put the "*" in quotes.'],
  ['Anchor cannot be an empty string', 'A "&" alone is an anchor without a name.', 'Put the "&" in quotes.'],
  ['Missing space after :', 'A space is missing after ":".', 'Add the space.'],
]

/** The words for a message, when there are better ones than those for its code. */
export function betterWords(message: string): (typeof BETTER)[number] | undefined {
  return BETTER.find(([beginning]) => message.startsWith(beginning))
}
