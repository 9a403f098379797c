import type { LeafForm } from '../../kinds/leaf-forms.ts'
import { faultOf } from '../../kinds/odd-text.ts'
import { errorStatement } from '../diagnostics/diagnostic.ts'
import { type Path, type Statement, type FieldFinding } from '../../kinds/finding.ts'
import type { YamlFinding } from './syntax-findings.ts'

/**
 * Finds unintended characters, placeholders and templates in texts and names.
 * @param formAt the declared form of the text at a path
 * @param most limit on findings
 */
export function textFindings(
  value: unknown,
  formAt: (path: Path) => LeafForm,
  most: number,
): readonly FieldFinding[] {
  const findings: FieldFinding[] = []
  const path: (string | number)[] = []
  function add(text: string, at?: 'field'): void {
    if (!MAY_BE_ODD.test(text) || findings.length > most) return
    const statement = statementOn(text, path, at === 'field' ? 'text' : formAt(path))
    if (statement !== undefined) findings.push({ ...statement, path: [...path], ...(at && { at }) })
  }
  function look(inner: unknown): void {
    if (typeof inner === 'string') return add(inner)
    if (typeof inner !== 'object' || inner === null) return
    const isList = Array.isArray(inner)
    for (const [name, item] of isList ? inner.entries() : Object.entries(inner)) {
      path.push(name)
      if (typeof name === 'string') add(name, 'field')
      look(item)
      path.pop()
    }
  }
  look(value)
  return findings
}

/** A fast check that selects the few texts for the slow checks. */
const MAY_BE_ODD = /[^\w ./:,*=?&+;'-]|^[ _]|[ _]$|:\/\/|vault:|(?:change|replace)[-_]?(?:me|this)/i

function statementOn(text: string, path: Path, form: LeafForm): Statement | undefined {
  const fault = faultOf(form, path, text)
  if (fault === '__proto__') return PROTOTYPE
  if (fault === 'unresolved') return UNRESOLVED
  if (fault !== undefined) return { severity: 'error', code: 'unseen-character', ...wordsOnCharacter(fault) }
  return form !== 'raw' && TEMPLATE.test(text) ? { ...TEMPLATE_STATEMENT, severity: 'warning' } : undefined
}

function wordsOnCharacter(odd: string): Pick<Statement, 'message' | 'hint'> {
  if (odd === '\n' || odd === '\r')
    return {
      message: 'This text holds a line break.',
      hint: 'Write the text on one line, or add "-" to "|" or ">" to remove the last line break.',
    }
  if (odd === ' ') return { message: 'This text begins or ends with a blank.', hint: 'Delete the blank.' }
  const point = `U+${(odd.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  return /\p{Cs}/u.test(odd)
    ? { message: `This text holds an incomplete character (${point}).`, hint: 'Write the whole character.' }
    : { message: `This text holds a character that cannot be seen (${point}).`, hint: 'Delete it.' }
}

const PROTOTYPE = errorStatement('unknown-field', 'No field and no text can be "__proto__".', 'Remove it.')

/** Templates of Helm, Go, Jinja or ERB, and variables: `${NAME}`, `$(NAME)`, or a text that is only `$NAME`. */
const TEMPLATE =
  /\{\{(?:(?!\{\{).)*?\}\}|\{%(?:(?!\{%).)*?%\}|<%(?:(?!<%).)*?%>|\$\{[A-Za-z_](?:(?!\$\{)[^}\n])*\}|\$\([A-Za-z_]\w*\)|^\$[A-Z][A-Z0-9_]*$/

const TEMPLATE_STATEMENT = errorStatement(
  'template',
  'This is a template: {{ … }}, {% … %}, <% … %> or a variable such as ${…} is still in it.',
  'Render the template first, or write the value itself. Add files that are only templates to .pipewrightignore.',
)

export const UNRESOLVED = errorStatement(
  'unresolved',
  'This text is encrypted, or a reference or placeholder that another tool replaces.',
  'Let that tool decrypt or replace the text before Pipewright reads it. For a login, mount a secret and write {secretRef: {name: …, key: …}}.',
)

const CONFLICT = /^(?:<{7}|={7}|>{7})(?= |$)/m

const CONFLICT_STATEMENT = errorStatement(
  'yaml-syntax',
  'Git left the marks of a merge conflict in this file.',
  'Keep one of the two versions. Remove the lines with "<<<<<<<", "=======" and ">>>>>>>".',
)

const INVISIBLE_STATEMENT = errorStatement(
  'unseen-character',
  'This line holds a character that is invisible or only looks like a space.',
  'Type the line again.',
)

const CAUSES = [
  [/\{\{|\{[%#]|<%/, TEMPLATE_STATEMENT],
  [/[\u00a0\u00ad\u200b-\u200f\u2028\u2029\u202f\u2060\u3000\ufeff]/, INVISIBLE_STATEMENT],
] as const

/** Replaces the parser's errors by their cause, if it is known. */
export function causeOfBrokenText(findings: readonly YamlFinding[], text: string): readonly YamlFinding[] {
  const conflict = CONFLICT.exec(text)
  if (conflict !== null)
    return [{ ...CONFLICT_STATEMENT, range: { start: conflict.index, end: conflict.index + 7 } }]
  for (const { range } of findings) {
    const from = Math.max(0, range.start - MAX_DISTANCE)
    const lineStart = from + text.slice(from, range.start).lastIndexOf('\n') + 1
    const [line = ''] = text.slice(lineStart, range.start + MAX_DISTANCE).split('\n', 1)
    for (const [pattern, statement] of CAUSES) {
      const cause = pattern.exec(line)
      if (cause === null) continue
      const start = lineStart + cause.index
      return [{ ...statement, range: { start, end: start + cause[0].length } }]
    }
  }
  return findings
}

const MAX_DISTANCE = 200
