import { REASONS } from '../src/plan/reason.ts'
import { cell, code } from './table.ts'

/** docs/reference/reasons.md: the table of reasons. @param runbook has entries for reasons that need steps */
export function reasonsPage(note: string, runbook: string): string {
  const rows = Object.entries(REASONS).map(([reason, { status, severity, alert = '', means }]) => {
    const isThere = runbook.includes(`\n### ${reason}\n`)
    const name = isThere ? `[${code(reason)}](runbook.md#${reason.toLowerCase()})` : code(reason)
    return `| ${name} | ${status} | ${severity} | ${alert} | ${cell(means)} |`
  })
  return `# Reasons

${note}

Each resource has a reason: on the page, in \`pipewright status\`, in the log, and in \`pipewright_resource_reasons\`. A reason with a link has steps in
the [runbook](runbook.md).

| reason | status | severity | alert | meaning |
|---|---|---|---|---|
${rows.join('\n')}
`
}
