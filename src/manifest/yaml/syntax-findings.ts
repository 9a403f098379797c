import {
  isAlias,
  isCollection,
  isNode,
  isScalar,
  visit,
  type Document,
  type Node,
  type YAMLError,
} from 'yaml'
import type { Limits } from './limits.ts'
import type { Range } from './node-range.ts'
import { looksLikeToken } from '../diagnostics/mask-lines.ts'
import type { Statement } from '../diagnostics/diagnostic.ts'
import { betterWords, SYNTAX, WORDS } from './syntax-words.ts'

/** Something YAML said, in our words: its own may quote the source, and with it a secret. */
export interface YamlFinding {
  readonly statement: Statement
  readonly range: Range
  /** Offset where the parser noticed it, when that is not where it is marked. */
  readonly noticed?: number
  /** Another place that takes part. */
  readonly first?: { readonly range: Range; readonly message: string }
}

/** Unknown tags and odd versions are only warnings of the parser; for us they are errors. */
const STRICT: ReadonlySet<string> = new Set(['TAG_RESOLVE_FAILED', 'BAD_DIRECTIVE', 'BAD_COLLECTION_TYPE'])

/** What the parser said of a document. Offsets are those of the text that it was given. */
export function documentFindings(document: Document, text: string, limit: number): readonly YamlFinding[] {
  const errors = [...document.errors.slice(0, limit), ...document.warnings.slice(0, limit)]
  const openings = errors.some((error) => openerOf(error) !== undefined)
    ? openingsOf(document, text)
    : undefined
  return errors.map((error) => {
    const finding = yamlFinding(error)
    const start = openings?.get(`${openerOf(error)}${error.pos[0]}`)
    if (start === undefined) return finding
    const line = text.indexOf('\n', start)
    const end = Math.min(error.pos[0], line === -1 ? text.length : line)
    return { ...finding, range: { start, end }, noticed: error.pos[0] }
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

/** One thing that the parser said, marked where it noticed. */
export function yamlFinding(error: YAMLError): YamlFinding {
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
 * The findings that are not mere echoes of one before: once the parser is lost, it wonders at every token that follows.
 * @param text that the ranges point into
 */
export function withoutEchoes(findings: readonly YamlFinding[], text: string): readonly YamlFinding[] {
  let lost: number | undefined
  let endOfLine = 0
  return findings
    .toSorted((a, b) => noticedAt(a) - noticedAt(b))
    .filter((finding) => {
      const { statement } = finding
      if (statement.code !== SYNTAX && statement.code !== 'yaml-key') return true
      const isEcho =
        lost !== undefined &&
        (statement.message === WORDS.UNEXPECTED_TOKEN.message ||
          statement.message === WORDS.BAD_INDENT.message ||
          noticedAt(finding) <= endOfLine)
      if (statement.code === SYNTAX && lost === undefined) {
        lost = noticedAt(finding)
        const newline = text.indexOf('\n', lost)
        endOfLine = newline === -1 ? text.length : newline
      }
      return !isEcho
    })
}

function noticedAt({ noticed, range }: YamlFinding): number {
  return noticed ?? range.start
}

/** `%YAML 1.1` is no error to the parser, but silently changes what words mean. */
export function versionFinding(document: Document, text: string): YamlFinding | undefined {
  const yaml = document.directives?.yaml
  if (yaml === undefined || yaml.version === '1.2') return undefined
  const start = Math.max(0, text.search(/^%YAML/m))
  const { code, message, hint } = WORDS.BAD_DIRECTIVE
  return { statement: { severity: 'error', code, message, hint }, range: { start, end: start + 9 } }
}

/** More aliases than this in one document are too many even where each stands for little: resolving is quadratic. */
const MOST_ALIASES = 1_000

/** Aliases without an anchor before them, aliases inside what they refer to, and far too many of them. */
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
      // Said by the parser already.
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

/** A field that its mapping already has. */
export function duplicateFinding(name: string, range: Range, first: Range): YamlFinding {
  const { code, message, hint } = WORDS.DUPLICATE_KEY
  const isShown = /^[\w.-]{1,64}$/.test(name) && !looksLikeToken(name)
  const named = isShown ? message.replace('This field', `The field "${name}"`) : message
  return {
    statement: { severity: 'error', code, message: named, hint },
    range,
    first: { range: first, message: 'the first of the two' },
  }
}

/** Where aliases that stand for too much are marked: the first alias of the document. */
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
