import { visit, type Document, type YAMLError } from 'yaml'
import type { Limits } from './limits.ts'
import type { Range } from './node-range.ts'
import { looksLikeToken } from '../diagnostics/mask-lines.ts'
import { errorStatement } from '../diagnostics/diagnostic.ts'
import { type Statement } from '../../kinds/finding.ts'

export interface YamlFinding extends Statement {
  readonly range: Range
  readonly first?: Range
}

/** The parser's warnings that Pipewright reports as errors: unknown tags and versions. */
const STRICT: ReadonlySet<string> = new Set(['TAG_RESOLVE_FAILED', 'BAD_DIRECTIVE', 'BAD_COLLECTION_TYPE'])

/** Findings without repetitions, because the parser complains about each token after an error. */
export function documentFindings(document: Document, text: string, limit: number): readonly YamlFinding[] {
  const broken = new Set<number>()
  const findings = [...document.errors.slice(0, limit), ...document.warnings.slice(0, limit)]
    .toSorted((a, b) => a.pos[0] - b.pos[0])
    .filter(({ code, pos }, at, all) => code !== all[at - 1]?.code || pos[0] !== all[at - 1]?.pos[0])
    .flatMap((error) => {
      const finding = yamlFinding(error)
      const { code, message } = finding
      const line = text.lastIndexOf('\n', error.pos[0] - 1)
      const isRepeated = broken.size > 0 && (ECHOES.includes(message) || broken.has(line))
      if (isRepeated && (code === SYNTAX || code === 'yaml-key')) return []
      if (code === SYNTAX) broken.add(line)
      return [{ ...finding, range: openRange(document, text, error) ?? finding.range }]
    })
  const version = document.directives?.yaml.version ?? '1.2'
  if (version === '1.2' || findings.some(({ code }) => code === BAD_DIRECTIVE.code)) return findings
  // The parser accepts `%YAML 1.1`, but words such as `yes` then silently get another meaning.
  const start = Math.max(0, text.search(/^%YAML/m))
  return [...findings, { ...BAD_DIRECTIVE, severity: 'error', range: { start, end: start + 9 } }]
}

/** The innermost quote or bracket without an end. Undefined: the error has another cause. */
function openRange(document: Document, text: string, error: YAMLError): Range | undefined {
  const opener = openerOf(error)
  if (opener === undefined) return undefined
  let range: Range | undefined
  const [noticed] = error.pos
  visit(document, {
    Node(_key, node) {
      const [start, end] = node.range ?? [0, 0]
      if (end !== noticed || text[start] !== opener) return
      const line = text.indexOf('\n', start)
      range = { start, end: Math.min(noticed, line === -1 ? text.length : line) }
    },
  })
  return range
}

export function yamlFinding(error: YAMLError): YamlFinding {
  const severity = error.name === 'YAMLWarning' && !STRICT.has(error.code) ? 'warning' : 'error'
  const words = wordsOn(error)
  const [start, end] = error.pos
  const range = { start, end: Math.max(end, start + 1) }
  return { ...words, severity, code: severity === 'warning' ? 'yaml-style' : words.code, range }
}

export function duplicateFinding(name: string, range: Range, first: Range): YamlFinding {
  const isShown = /^[\w.-]{1,64}$/.test(name) && !looksLikeToken(name)
  const message = `${isShown ? `The field "${name}"` : 'This field'} is there twice.`
  return { ...errorStatement('duplicate-field', message, 'Remove one of the two.'), range, first }
}

export function explosionFinding(range: Range, { aliases }: Limits): YamlFinding {
  const message = `The aliases of this document expand to more than ${aliases} values.`
  return { ...errorStatement('alias-explosion', message, 'Use fewer aliases: write the values out.'), range }
}

export const UNKNOWN_ALIAS = errorStatement(
  'alias-unknown',
  'This alias refers to no anchor before it.',
  'Define the anchor above it in the same document, or put a text that begins with "*" in quotes.',
)

export const CIRCULAR_ALIAS = errorStatement(
  'alias-circular',
  'This alias is inside the value that it refers to.',
  'Write the value out.',
)

export const OCTAL = errorStatement(
  'yaml-style',
  'This number begins with 0. Other programs read it as octal.',
  'Write it without the 0.',
)

type Words = Omit<Statement, 'severity'>

const SYNTAX = 'yaml-syntax'

const BAD_DIRECTIVE: Words = {
  code: 'yaml-version',
  message: 'This directive is not YAML 1.2.',
  hint: 'Remove the line, because manifests are YAML 1.2.',
}

const BAD_TAG: Words = {
  code: 'yaml-tag',
  message: 'This YAML tag, which begins with "!", is not known, or does not fit its value.',
  hint: 'If "!" begins a text, put the text in quotes. If another program replaces the tag, run it first. Otherwise, remove the tag.',
}

const NOT_EXPECTED: Words = {
  code: SYNTAX,
  message: 'The text is not valid YAML here.',
  hint: 'Look for a missing quote, bracket, comma, ":" or space on this line or before it.',
}
const BAD_INDENT: Words = {
  code: SYNTAX,
  message: 'The indentation is wrong here.',
  hint: 'Indent fields of one mapping, and items of one list, by the same number of spaces.',
}
const ECHOES: readonly string[] = [NOT_EXPECTED.message, BAD_INDENT.message]

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
    hint: 'Look for a missing ": " on this line.',
  },
  NON_STRING_KEY: {
    code: 'yaml-key',
    message: 'The name of a field must be text, and not a list, a mapping or an alias.',
    hint: 'Put a name that begins with "[", "{" or "*" in quotes. Fill in templates such as {{ … }} first.',
  },
  TAB_AS_INDENT: { code: SYNTAX, message: 'A tab is used as indentation.', hint: 'Use spaces.' },
  TAG_RESOLVE_FAILED: BAD_TAG,
  BAD_COLLECTION_TYPE: BAD_TAG,
}

/** Beginnings of the parser's messages, each with the quote or bracket that has no end. */
const OPENERS = [
  ['Missing closing "quote', '"'],
  ["Missing closing 'quote", "'"],
  ['Flow map in block collection', '{'],
  ['Expected flow map to end with', '{'],
  ['Flow sequence in block collection', '['],
  ['Expected flow sequence to end with', '['],
] as const

function openerOf({ message }: YAMLError): string | undefined {
  return OPENERS.find(([beginning]) => message.startsWith(beginning))?.[1]
}

/** Own words for an error, because the parser's messages can quote a secret. */
function wordsOn(error: YAMLError): Words {
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
