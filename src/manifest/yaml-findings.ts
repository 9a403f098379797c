import { isAlias, isCollection, isNode, isScalar, visit } from 'yaml'
import type { Document, Node, YAMLError } from 'yaml'
import type { Limits } from './limits.ts'
import type { Range } from './node-range.ts'
import type { Statement } from './findings.ts'

/** Something YAML said, in our words: its own may quote the source, and with it a secret. */
export interface YamlProblem {
  readonly statement: Statement
  readonly range: Range
  /** Offset where the parser noticed it, when that is not where it is marked. */
  readonly noticed?: number
}

interface Words {
  readonly code: Statement['code']
  readonly message: string
  readonly hint: string
}

const SYNTAX = 'yaml-syntax'

const WORDS: Readonly<Record<YAMLError['code'], Words>> = {
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
    hint: 'Put the value on a line of its own, or in quotes when it holds ": ".',
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
  ['Missing space after :', 'A space is missing after ":".', 'Add the space.'],
]

/** Unknown tags and odd versions are only warnings of the parser; for us they are errors. */
const STRICT: ReadonlySet<string> = new Set(['TAG_RESOLVE_FAILED', 'BAD_DIRECTIVE', 'BAD_COLLECTION_TYPE'])

/** What the parser said of a document. Offsets are those of the text that it was given. */
export function documentProblems(document: Document, text: string, limit: number): readonly YamlProblem[] {
  const errors = [...document.errors.slice(0, limit), ...document.warnings.slice(0, limit)]
  const openings = errors.some((error) => openerOf(error) !== undefined)
    ? openingsOf(document, text)
    : undefined
  return errors.map((error) => {
    const problem = yamlProblem(error)
    const start = openings?.get(`${openerOf(error)}${error.pos[0]}`)
    if (start === undefined) return problem
    const line = text.indexOf('\n', start)
    const end = Math.min(error.pos[0], line === -1 ? text.length : line)
    return { ...problem, range: { start, end }, noticed: error.pos[0] }
  })
}

/** The quote or bracket that the parser missed the end of. */
function openerOf({ message }: YAMLError): string | undefined {
  return betterWords(message)?.[3]
}

/** Where the innermost text in quotes, or collection in brackets, began that ends at an offset: its opener and end → start. */
function openingsOf(document: Document, text: string): ReadonlyMap<string, number> {
  const openings = new Map<string, number>()
  visit(document, {
    Node(_key, node) {
      if (!isScalar(node) && !isCollection(node)) return
      const [start, end] = node.range ?? [0, 0]
      openings.set(`${text[start]}${end}`, start)
    },
  })
  return openings
}

function betterWords(message: string): (typeof BETTER)[number] | undefined {
  return BETTER.find(([beginning]) => message.startsWith(beginning))
}

/** One thing that the parser said, marked where it noticed. */
export function yamlProblem(error: YAMLError): YamlProblem {
  const words = WORDS[error.code]
  const better = betterWords(error.message)
  const severity = error.name === 'YAMLWarning' && !STRICT.has(error.code) ? 'warning' : 'error'
  const [start, end] = error.pos
  return {
    statement: {
      severity,
      code: severity === 'warning' ? 'yaml-style' : words.code,
      message: better?.[1] ?? words.message,
      hint: better?.[2] ?? words.hint,
    },
    range: { start, end: Math.max(end, start + 1) },
  }
}

/**
 * The problems that are not mere echoes of one before: once the parser is lost, it wonders at every token that follows.
 * @param text that the ranges point into
 */
export function withoutEchoes(problems: readonly YamlProblem[], text: string): readonly YamlProblem[] {
  let lost: number | undefined
  return problems
    .toSorted((a, b) => noticedAt(a) - noticedAt(b))
    .filter((problem) => {
      const { statement } = problem
      if (statement.code !== SYNTAX && statement.code !== 'yaml-key') return true
      const isEcho =
        lost !== undefined &&
        (statement.message === WORDS.UNEXPECTED_TOKEN.message ||
          !text.slice(lost, noticedAt(problem)).includes('\n'))
      if (statement.code === SYNTAX) lost ??= noticedAt(problem)
      return !isEcho
    })
}

function noticedAt({ noticed, range }: YamlProblem): number {
  return noticed ?? range.start
}

/** `%YAML 1.1` is no error to the parser, but silently changes what words mean. */
export function versionProblem(document: Document, text: string): YamlProblem | undefined {
  const yaml = document.directives?.yaml
  if (yaml === undefined || yaml.version === '1.2') return undefined
  const start = Math.max(0, text.search(/^%YAML/m))
  const { code, message, hint } = WORDS.BAD_DIRECTIVE
  return { statement: { severity: 'error', code, message, hint }, range: { start, end: start + 9 } }
}

/** More aliases than this in one document are too many even where each stands for little: resolving is quadratic. */
const MOST_ALIASES = 1_000

/** Aliases without an anchor before them, aliases inside what they refer to, and far too many of them. */
export function aliasProblems(document: Document, limits: Limits): readonly YamlProblem[] {
  const anchors = new Map<string, Node>()
  const problems: YamlProblem[] = []
  let count = 0
  visit(document, {
    Node(_key, node, path) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node)
        return undefined
      }
      count += 1
      if (count > MOST_ALIASES) return visit.BREAK
      const target = anchors.get(node.source)
      const [start, end] = node.range ?? [0, 1]
      if (target === undefined) problems.push({ statement: UNKNOWN_ALIAS, range: { start, end } })
      else if (path.some((ancestor) => isNode(ancestor) && ancestor === target)) {
        problems.push({ statement: CIRCULAR_ALIAS, range: { start, end } })
      }
      return undefined
    },
  })
  return count > MOST_ALIASES ? [explosionProblem(document, limits)] : problems
}

/** A field that its mapping already has. */
export function duplicateProblem(range: Range): YamlProblem {
  return { statement: { severity: 'error', ...WORDS.DUPLICATE_KEY }, range }
}

/** Where aliases that stand for too much are marked: the first alias of the document. */
export function explosionProblem(document: Document, limits: Limits): YamlProblem {
  let range: Range = { start: document.range?.[0] ?? 0, end: (document.range?.[0] ?? 0) + 1 }
  visit(document, {
    Alias(_key, node) {
      const [start, end] = node.range ?? [range.start, range.end]
      range = { start, end }
      return visit.BREAK
    },
  })
  return {
    statement: {
      severity: 'error',
      code: 'alias-explosion',
      message: `The aliases of this document stand for more than ${limits.aliases} values.`,
      hint: 'Write the values out, or share fewer of them.',
    },
    range,
  }
}

const UNKNOWN_ALIAS: Statement = {
  severity: 'error',
  code: 'alias-unknown',
  message: 'This alias refers to no anchor before it.',
  hint: 'Define the anchor above it in the same document, or put a text that begins with "*" in quotes.',
}

const CIRCULAR_ALIAS: Statement = {
  severity: 'error',
  code: 'alias-circular',
  message: 'This alias stands inside what it refers to.',
  hint: 'Write the value out.',
}
