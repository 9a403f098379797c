import { isScalar, visit, type Document } from 'yaml'
import type { Statement } from '../diagnostics/diagnostic.ts'
import type { YamlFinding } from './syntax-findings.ts'

/** What makes it worth looking at texts at all. */
const ODD = /\$\{|\{\{|[\u0370-\u03ff\u0400-\u04ff\u2018-\u201f]/

const PLACEHOLDER = /\$\{[A-Za-z_]\w*\}/
const TEMPLATE = /\{\{.*?\}\}/s
const QUOTE = /^[\u2018-\u201f]|[\u2018-\u201f]$/

/** A word of Latin letters with one among them that looks like one and is none. */
const MIXED = /[A-Za-z][\w-]*([\u0370-\u03ff\u0400-\u04ff])|([\u0370-\u03ff\u0400-\u04ff])[\w-]*[A-Za-z]/

/** Texts that are right as YAML and most likely not meant: names of fields, and values. Each is found once. */
export function textFindings(document: Document, text: string, limit: number): readonly YamlFinding[] {
  if (!ODD.test(text)) return []
  const findings: YamlFinding[] = []
  visit(document, {
    Scalar(_key, node) {
      if (findings.length >= limit) return visit.BREAK
      const statement = isScalar(node) && typeof node.value === 'string' ? statementOf(node.value) : undefined
      const [start, end] = node.range ?? [0, 1]
      if (statement !== undefined) findings.push({ statement, range: { start, end } })
      return undefined
    },
  })
  return findings
}

function statementOf(value: string): Statement | undefined {
  if (!ODD.test(value)) return undefined
  if (TEMPLATE.test(value)) return { ...TEMPLATE_STATEMENT, severity: 'warning' }
  if (PLACEHOLDER.test(value)) {
    return {
      severity: 'warning',
      code: 'placeholder',
      message: 'This text holds ${…}, which is sent as it stands: nothing is put in its place.',
      hint: 'Write the value. For a secret, write {secretRef: {name: …, key: …}}.',
    }
  }
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
  message: 'This is a template, such as one of Helm, and not a manifest: {{ … }} is still in it.',
  hint: 'Render it first, and put the result here; name the template in .pipewrightignore.',
}
