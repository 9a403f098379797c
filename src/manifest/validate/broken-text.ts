import { noticedAt, withoutEchoes, type YamlFinding } from '../yaml/syntax-findings.ts'
import { SYNTAX } from '../yaml/syntax-words.ts'
import { asConflict, asPlaceholder, asTemplate, withReferences } from './odd-texts.ts'
import { repaired, type ParseOptions } from './repairs.ts'

/**
 * What is said of a document that is no YAML: the reason for all of it where there is one, then the mistakes whose remedy is known, then
 * what the parser says of the rest.
 */
export function brokenFindings(
  findings: readonly YamlFinding[],
  text: string,
  options: ParseOptions,
): readonly YamlFinding[] {
  const first = withoutEchoes(withReferences(findings, text), text)
  const reason = asConflict(asPlaceholder(asTemplate(first, text), text), text)
  if (reason !== first || !first.some(isSyntax)) return reason
  const { findings: known, isWhole, until } = repaired(text, options)
  if (known.length === 0) return first
  const start = isWhole ? Infinity : offsetOfLine(text, until)
  const others = findings.filter((finding) => !isSyntax(finding) || noticedAt(finding) >= start)
  return [...known, ...withoutEchoes(others, text)]
}

function isSyntax({ statement: { code } }: YamlFinding): boolean {
  return code === SYNTAX || code === 'yaml-key'
}

/** @param line from 0 */
function offsetOfLine(text: string, line: number): number {
  let start = 0
  for (let count = 0; count < line; count += 1) start = text.indexOf('\n', start) + 1
  return start
}
