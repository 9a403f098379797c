import { visit, type Document, type YAMLError } from 'yaml'
import type { Limits } from './limits.ts'
import type { Range } from './node-range.ts'
import { looksLikeToken } from '../diagnostics/mask-lines.ts'
import { errorStatement, type Statement } from '../diagnostics/diagnostic.ts'
import { BAD_DIRECTIVE, ECHOES, openerOf, SYNTAX, wordsOn } from './syntax-words.ts'

export interface YamlFinding extends Statement {
  readonly range: Range
  /** The first of two equal fields. */
  readonly first?: Range
}

/** The parser only warns about unknown tags and odd versions. */
const STRICT: ReadonlySet<string> = new Set(['TAG_RESOLVE_FAILED', 'BAD_DIRECTIVE', 'BAD_COLLECTION_TYPE'])

/** Without repetitions: a parser that lost its way complains about each following token. */
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
  // The parser accepts `%YAML 1.1`, but the meaning of words then changes silently.
  const start = Math.max(0, text.search(/^%YAML/m))
  return [...findings, { ...BAD_DIRECTIVE, severity: 'error', range: { start, end: start + 9 } }]
}

/** Marks the innermost quoted text or bracketed collection without an end. */
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
  const message = `The aliases of this document stand for more than ${aliases} values.`
  return {
    ...errorStatement('alias-explosion', message, 'Write the values out, or share fewer of them.'),
    range,
  }
}

export const UNKNOWN_ALIAS = errorStatement(
  'alias-unknown',
  'This alias refers to no anchor before it.',
  'Define the anchor above it in the same document, or put a text that begins with "*" in quotes.',
)

export const CIRCULAR_ALIAS = errorStatement(
  'alias-circular',
  'This alias stands inside what it refers to.',
  'Write the value out.',
)

export const OCTAL = errorStatement(
  'yaml-style',
  'This number begins with 0. Other programs read it as octal.',
  'Write it without the 0.',
)
