import { isScalar, visit, type Document } from 'yaml'
import { OVERRIDES } from '../../lib/shown-text.ts'
import type { Statement } from '../diagnostics/diagnostic.ts'
import type { Limits } from './limits.ts'
import type { Range } from './node-range.ts'
import type { YamlFinding } from './syntax-findings.ts'

/** Zero-width characters and spaces that only look like a space. */
export const INVISIBLE = /[\u00a0\u00ad\u200b-\u200f\u2028\u2029\u202f\u2060\u3000\ufeff]/

/** Words that are written from the right, or with joined letters, need such characters. */
const NEEDS_INVISIBLE = /[\u0590-\u08ff\u0900-\u0dff\ufb1d-\ufefc\u{1f000}-\u{1faff}\u2600-\u27bf]/u

/** An expression of Helm and Go, Jinja or ERB. */
const TEMPLATE = /\{\{[^\n]*?\}\}|\{%[^\n]*?%\}|<%[^\n]*?%>/

/** `${NAME}` with or without a default, `$(NAME)`, and a whole `$NAME`. */
const PLACEHOLDER = /\$\{[A-Za-z_][^}\n]{0,200}\}|\$\([A-Za-z_]\w{0,80}\)|^\$[A-Z][A-Z0-9_]{0,80}$/

const IS_ODD = new RegExp(
  [OVERRIDES, INVISIBLE, /\\[uU]0{0,4}20[26]/, /\{[{%]|<%|\$[{(A-Z]/].map(({ source }) => source).join('|'),
)

/** Texts that are valid YAML and cannot be meant: in names of fields and in values. */
export function textFindings(
  document: Document,
  text: string,
  limits: Pick<Limits, 'findings' | 'findingsOfRule'>,
): readonly YamlFinding[] {
  if (!IS_ODD.test(text)) return []
  const findings: YamlFinding[] = []
  const counts = new Map<string, number>()
  visit(document, {
    Scalar(_key, node) {
      if (findings.length > limits.findings) return visit.BREAK
      if (!isScalar(node) || typeof node.value !== 'string') return undefined
      const [start, end] = node.range ?? [0, 1]
      const finding = findingIn(node.value, text.slice(start, end), { start, end })
      if (finding === undefined) return undefined
      const count = (counts.get(finding.statement.code) ?? 0) + 1
      counts.set(finding.statement.code, count)
      if (count <= limits.findingsOfRule + 1) findings.push(finding)
      return undefined
    },
  })
  return findings
}

/** @param source the value as the file spells it, with its quotes and escapes */
function findingIn(value: string, source: string, range: Range): YamlFinding | undefined {
  const override = OVERRIDES.exec(value)?.[0]
  if (override !== undefined) return { statement: directionMark(override), range }
  const invisible = NEEDS_INVISIBLE.test(value) ? undefined : INVISIBLE.exec(source)?.[0]
  if (invisible !== undefined && !isInsideSentence(invisible, value))
    return { statement: invisibleCharacter(invisible), range }
  if (TEMPLATE.test(value)) return { statement: { ...TEMPLATE_STATEMENT, severity: 'warning' }, range }
  return PLACEHOLDER.test(value) ? { statement: PLACEHOLDER_STATEMENT, range } : undefined
}

/** Typography puts a no-break space between the words of a sentence. */
function isInsideSentence(character: string, value: string): boolean {
  return /\s/.test(character) && value.includes(' ') && value.trim() === value
}

function directionMark(character: string): Statement {
  return {
    severity: 'error',
    code: 'unseen-character',
    message: `This text holds a direction mark (${codePoint(character)}). It makes the text look like another one.`,
    hint: 'Delete it.',
  }
}

export function invisibleCharacter(character: string): Statement {
  return {
    severity: 'warning',
    code: 'unseen-character',
    message: `This text holds ${codePoint(character)}, which is invisible or only looks like a space.`,
    hint: 'Type the word again.',
  }
}

function codePoint(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}

const PLACEHOLDER_STATEMENT: Statement = {
  severity: 'warning',
  code: 'placeholder',
  message: 'This text holds a variable such as ${…} or $(…). Pipewright sends it as it is.',
  hint: 'Write the value itself, or {secretRef: {name: …, key: …}} for a secret.',
}

/** A warning in a value; an error if the document is not YAML because of it. */
export const TEMPLATE_STATEMENT: Statement = {
  severity: 'error',
  code: 'template',
  message: 'This is a template: {{ … }}, {% … %} or <% … %> is still in it.',
  hint: 'Render it first and put the result here. Name the template in .pipewrightignore.',
}
