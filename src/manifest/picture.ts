import type { Finding } from '../kinds/finding.ts'

/**
 * The place of a finding as text: `file:line:column`, the line, and carets below what is marked. Tabs of the line
 * are repeated below it, so that the carets stand right whatever a tab's width. No colour, no newline at the end.
 */
export function pictureOf(
  finding: Pick<Finding, 'file' | 'line' | 'column' | 'endColumn' | 'lineText'>,
): string {
  const where = `${finding.file}:${finding.line}:${finding.column}`
  const { lineText } = finding
  if (lineText.trim() === '') return where
  // Masking and cutting shorten a line; what is marked may then lie beyond its end.
  const start = Math.min(finding.column - 1, Math.max(0, lineText.length - 1))
  const end = Math.max(start + 1, Math.min(finding.endColumn - 1, lineText.length))
  const margin = lineText.slice(0, start).replaceAll(/[^\t]/g, ' ')
  return [where, lineText, margin + '^'.repeat(end - start)].join('\n')
}
