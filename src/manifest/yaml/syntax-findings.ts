import { isAlias, isNode, visit, type Document, type Node, type YAMLError } from 'yaml'
import type { Limits } from './limits.ts'
import type { Range } from './node-range.ts'
import { looksLikeToken } from '../diagnostics/mask-lines.ts'
import { errorStatement, type Statement } from '../diagnostics/diagnostic.ts'
import { BAD_DIRECTIVE, ECHOES, openerOf, SYNTAX, wordsOn } from './syntax-words.ts'

export interface YamlFinding {
  readonly statement: Statement
  readonly range: Range
  readonly first?: { readonly range: Range; readonly message: string }
}

/** The parser only warns about unknown tags and odd versions. */
const STRICT: ReadonlySet<string> = new Set(['TAG_RESOLVE_FAILED', 'BAD_DIRECTIVE', 'BAD_COLLECTION_TYPE'])

/** Without repetitions: a parser that lost its way complains about each following token. */
export function documentFindings(document: Document, text: string, limit: number): readonly YamlFinding[] {
  const broken = new Set<number>()
  return [...document.errors.slice(0, limit), ...document.warnings.slice(0, limit)]
    .toSorted((a, b) => a.pos[0] - b.pos[0])
    .filter(({ code, pos }, at, all) => code !== all[at - 1]?.code || pos[0] !== all[at - 1]?.pos[0])
    .flatMap((error) => {
      const finding = yamlFinding(error)
      const { code, message } = finding.statement
      const line = text.lastIndexOf('\n', error.pos[0] - 1)
      const isRepeated = broken.size > 0 && (ECHOES.includes(message) || broken.has(line))
      if (isRepeated && (code === SYNTAX || code === 'yaml-key')) return []
      if (code === SYNTAX) broken.add(line)
      const range = openRange(document, text, error)
      return [range === undefined ? finding : { ...finding, range }]
    })
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
  return {
    statement: { ...words, severity, code: severity === 'warning' ? 'yaml-style' : words.code },
    range: { start, end: Math.max(end, start + 1) },
  }
}

/** The parser accepts `%YAML 1.1`, but the meaning of words then changes silently. */
export function versionFinding(document: Document, text: string): YamlFinding | undefined {
  const yaml = document.directives?.yaml
  if (yaml === undefined || yaml.version === '1.2') return undefined
  const start = Math.max(0, text.search(/^%YAML/m))
  return { statement: { severity: 'error', ...BAD_DIRECTIVE }, range: { start, end: start + 9 } }
}

/** Even if each alias expands to little: resolving them is quadratic. */
const MOST_ALIASES = 1_000

/** Aliases before or inside their anchor, and too many aliases. */
export function aliasFindings(document: Document, limits: Limits): readonly YamlFinding[] {
  const anchors = new Map<string, Node>()
  const findings: YamlFinding[] = []
  let count = 0
  visit(document, {
    Node(_key, node, path) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node)
        return undefined
      }
      count += 1
      if (count > MOST_ALIASES) return visit.BREAK
      // The parser already reported this alias.
      if (node.source === '') return undefined
      const target = anchors.get(node.source)
      const [start, end] = node.range ?? [0, 1]
      if (target === undefined) findings.push({ statement: UNKNOWN_ALIAS, range: { start, end } })
      else if (path.some((ancestor) => isNode(ancestor) && ancestor === target)) {
        findings.push({ statement: CIRCULAR_ALIAS, range: { start, end } })
      }
      return undefined
    },
  })
  return count > MOST_ALIASES ? [explosionFinding(document, limits)] : findings
}

export function duplicateFinding(name: string, range: Range, first: Range): YamlFinding {
  const isShown = /^[\w.-]{1,64}$/.test(name) && !looksLikeToken(name)
  const message = `${isShown ? `The field "${name}"` : 'This field'} is there twice.`
  return {
    statement: { severity: 'error', code: 'duplicate-field', message, hint: 'Remove one of the two.' },
    range,
    first: { range: first, message: 'the first of the two' },
  }
}

export function explosionFinding(document: Document, limits: Limits): YamlFinding {
  let range: Range = { start: document.range?.[0] ?? 0, end: (document.range?.[0] ?? 0) + 1 }
  visit(document, {
    Alias(_key, node) {
      const [start, end] = node.range ?? [range.start, range.end]
      range = { start, end }
      return visit.BREAK
    },
  })
  return {
    statement: errorStatement(
      'alias-explosion',
      `The aliases of this document stand for more than ${limits.aliases} values.`,
      'Write the values out, or share fewer of them.',
    ),
    range,
  }
}

const UNKNOWN_ALIAS = errorStatement(
  'alias-unknown',
  'This alias refers to no anchor before it.',
  'Define the anchor above it in the same document, or put a text that begins with "*" in quotes.',
)

const CIRCULAR_ALIAS = errorStatement(
  'alias-circular',
  'This alias stands inside what it refers to.',
  'Write the value out.',
)
