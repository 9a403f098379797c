import { isPair, isScalar, visit, type Document } from 'yaml'
import { SENSITIVE_FIELDS } from '../../lib/sensitive.ts'
import type { Statement } from '../diagnostics/diagnostic.ts'
import type { Limits } from './limits.ts'
import type { Range } from './node-range.ts'
import type { YamlFinding } from './syntax-findings.ts'
import { OVERRIDES } from '../../lib/shown-text.ts'
import { UNSEEN, unseenIn, unseenStatement } from './unseen.ts'

/** What makes it worth looking at texts at all. */
const ODD = new RegExp(
  `\\$[{(A-Z]|\\{[{%#]|<%|\\s//\\s|[\\u0370-\\u03ff\\u0400-\\u04ff\\u2018-\\u201f]|\\\\[uU]0{0,4}20[26]|${UNSEEN.source}`,
)

/** An item of a list that is deeper than the one above it. */
const DEEPER_ITEM = /^( *)- [^\n]*[^\n:\s]\n\1 +- /m

/** `${NAME}`, also with a default, `$(NAME)`, and a whole `$NAME`; never longer than a line. */
const PLACEHOLDER =
  /(\$\{)[A-Za-z_][\w.]{0,80}(?:[:?+=-][^}\n]{0,200})?\}|(\$\()[A-Za-z_]\w{0,80}\)|^\$[A-Z][A-Z0-9_]{0,80}$/
const QUOTE = /^[\u2018-\u201f]|[\u2018-\u201f]$/

/** A word of Latin letters with one among them that looks like one and is none. */
const MIXED = /[A-Za-z][\w-]*([\u0370-\u03ff\u0400-\u04ff])|([\u0370-\u03ff\u0400-\u04ff])[\w-]*[A-Za-z]/

/** Texts that are right as YAML and most likely not meant: names of fields, and values. Each is found once. */
export function textFindings(
  document: Document,
  text: string,
  limits: Pick<Limits, 'findings' | 'findingsOfRule'>,
): readonly YamlFinding[] {
  if (!ODD.test(text) && !DEEPER_ITEM.test(text)) return []
  const findings: YamlFinding[] = []
  const counts = new Map<string, number>()
  const columnOf = createColumns(text)
  visit(document, {
    Scalar(_key, node, ancestors) {
      if (findings.length > limits.findings) return visit.BREAK
      if (!isScalar(node) || typeof node.value !== 'string') return undefined
      const [start, end] = node.range ?? [0, 1]
      const finding =
        partOf(text, { start, end }, { type: node.type, columnOf }) ??
        wholeOf(node.value, { start, end, takesReference: takesReference(node, ancestors.at(-1)) })
      if (finding === undefined) return undefined
      const { code } = finding.statement
      const count = (counts.get(code) ?? 0) + 1
      counts.set(code, count)
      if (count <= limits.findingsOfRule + 1) findings.push(finding)
      return undefined
    },
  })
  return findings
}

/** The column of an offset, from 1. A line may be very long: it is looked through once. */
function createColumns(text: string): (offset: number) => number {
  let start = 0
  let end = -1
  return (offset) => {
    if (offset < start || offset > end) {
      start = text.lastIndexOf('\n', offset - 1) + 1
      const newline = text.indexOf('\n', offset)
      end = newline === -1 ? text.length : newline
    }
    return offset - start + 1
  }
}

/** What is odd about one place in a text. */
function partOf(
  text: string,
  about: Range,
  { type, columnOf }: { readonly type: string | undefined; readonly columnOf: (offset: number) => number },
): YamlFinding | undefined {
  const source = text.slice(about.start, about.end)
  const unseen = unseenIn(source)
  if (unseen !== undefined) {
    const start = about.start + unseen
    return {
      statement: unseenStatement(source.charAt(unseen), columnOf(start)),
      range: { start, end: start + 1 },
      about,
    }
  }
  if (type !== 'PLAIN') return undefined
  const item = /\n *(?=- )/.exec(source)
  if (item !== null) {
    const start = about.start + item.index + item[0].length
    return { statement: FOLDED_ITEM, range: { start, end: start + 1 }, about }
  }
  const comment = source.search(/\s\/\/\s/)
  if (comment === -1) return undefined
  const start = about.start + comment + 1
  return { statement: OTHER_COMMENT, range: { start, end: start + 2 }, about }
}

function wholeOf(
  value: string,
  { takesReference: isForSecret, ...range }: Range & { readonly takesReference: boolean },
): YamlFinding | undefined {
  // An escape is meant, but nobody may mean this one.
  const override = OVERRIDES.exec(value)
  if (override !== null) return { statement: escapedOverride(override[0]), range }
  const statement = statementOf(value, isForSecret)
  return statement === undefined ? undefined : { statement, range }
}

function escapedOverride(character: string): Statement {
  const code = character.charCodeAt(0).toString(16).toUpperCase()
  return {
    severity: 'error',
    code: 'unseen-character',
    message: `This text holds a direction mark (U+${code}), after which it reads as something that it is not.`,
    hint: 'Delete it.',
  }
}

/** Whether a text is the value of a field that takes a reference to a secret. */
function takesReference(node: unknown, parent: unknown): boolean {
  if (!isPair(parent) || parent.value !== node) return false
  return isScalar(parent.key) && SENSITIVE_FIELDS.has(String(parent.key.value))
}

/** YAML takes it for the second line of the text above it. */
const FOLDED_ITEM: Statement = {
  severity: 'warning',
  code: 'yaml-style',
  message: 'This "-" is indented deeper than the item above it, and so it is a part of that text.',
  hint: 'Indent it like the "-" above it. If it is a part of the text, put the text in quotes.',
}

/** As many other languages have it. */
const OTHER_COMMENT: Statement = {
  severity: 'warning',
  code: 'yaml-style',
  message: 'A comment begins with "#": this "//", and what is behind it, is a part of the text.',
  hint: 'Write "#" in its place. If it is a part of the text, put the text in quotes.',
}

function statementOf(value: string, isForSecret: boolean): Statement | undefined {
  if (!ODD.test(value)) return undefined
  if (TEMPLATES.some(([open, close]) => holds(value, open, close)))
    return { ...TEMPLATE_STATEMENT, severity: 'warning' }
  const placeholder = PLACEHOLDER.exec(value)
  if (placeholder !== null) return placeholderStatement(placeholder, isForSecret)
  if (QUOTE.test(value)) {
    return {
      severity: 'warning',
      code: 'typographic-quote',
      message: 'A typographic quote is part of this text: YAML knows only " and \'.',
      hint: 'Replace it by " or by \', or remove it.',
    }
  }
  const [, after, before] = MIXED.exec(value) ?? []
  const letter = after ?? before
  return letter === undefined ? undefined : lookAlike(letter)
}

/** Helm and Go, Jinja, ERB. */
const TEMPLATES = [
  ['{{', '}}'],
  ['{%', '%}'],
  ['{#', '#}'],
  ['<%', '%>'],
] as const

function holds(text: string, open: string, close: string): boolean {
  const start = text.indexOf(open)
  return start !== -1 && text.includes(close, start + open.length)
}

function placeholderStatement([, brace, bracket]: RegExpExecArray, isForSecret: boolean): Statement {
  if (brace !== undefined) return placeholderIn('${…}', isForSecret)
  return placeholderIn(bracket === undefined ? '$NAME' : '$(…)', isForSecret)
}

/** @param form of the placeholder, such as `${…}` @param isForSecret a reference may stand in its place */
export function placeholderIn(form: string, isForSecret: boolean): Statement {
  return {
    severity: 'warning',
    code: 'placeholder',
    message: `This text holds ${form}, which is sent as it stands: nothing is put in its place.`,
    hint: isForSecret ? 'Write the value, or {secretRef: {name: …, key: …}}.' : 'Write the value itself.',
  }
}

function lookAlike(letter: string): Statement {
  const code = letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  const script = letter < '\u0400' ? 'Greek' : 'Cyrillic'
  return {
    severity: 'warning',
    code: 'look-alike',
    message: `The letter "${letter}" in this word is ${script} (U+${code}), and only looks like a Latin one.`,
    hint: 'Type the word again.',
  }
}

/** Said once of a document that is one; an error where something does not work because of it. */
export const TEMPLATE_STATEMENT: Statement = {
  severity: 'error',
  code: 'template',
  message: 'This is a template, and not a manifest: {{ … }}, {% … %} or <% … %> is still in it.',
  hint: 'Render it first, and put the result here; name the template in .pipewrightignore.',
}
