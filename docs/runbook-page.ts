import type { Key } from '../src/kinds/key.ts'
import { REASONS, stepsOf, type Reason } from '../src/plan/reason.ts'
import type { About, FieldEdit } from '../src/plan/step.ts'
import { REASON_SAMPLES } from './reason-samples.ts'

/* docs/reference/runbook.md: what the table of reasons says stands at the head of each reason's entry; all else is written by hand. */

/** The resource of the runbook: a placeholder that the reader replaces. */
const ANY: About = {
  key: 'KEY' as Key,
  place: 'its manifest',
  service: 'NAME',
  pipeId: 'ID',
  id: 'ID',
  differences: [],
}

/** The whole page. @param written as it is */
export function runbookPage(written: string): string {
  return written.replaceAll(/^### (\w+)\n\n(?:> .*\n\n)?/gm, (entry, heading: string) =>
    Object.hasOwn(REASONS, heading) ? `### ${heading}\n\n${head(heading as Reason)}\n\n` : entry,
  )
}

/** Status, severity, alert, and what to run or to write. */
function head(reason: Reason): string {
  const { status, severity, alert } = REASONS[reason]
  const steps = stepsOf({ reason, facts: REASON_SAMPLES[reason] }, ANY)
  const wakes = alert === undefined ? 'no alert' : `[${alert}](#${alert.toLowerCase()})`
  const shell = steps.flatMap((step) =>
    step.shell === undefined ? [] : `\`pipewright ${filled(step.shell)}\``,
  )
  const git = steps.flatMap((step) => (step.edit === undefined ? [] : `\`${filled(inOneLine(step.edit))}\``))
  return `> ${[
    `**${status}**, ${severity}, ${wakes}.`,
    ...(shell.length === 0 ? [] : [`At the shell: ${shell.join(', ')}.`]),
    ...(git.length === 0 ? [] : [`In Git: ${git.join(', ')}.`]),
  ].join(' ')}`
}

/** What the page calls `PIPE_ID` is `ID` here. */
function filled(text: string): string {
  return text.replaceAll('PIPE_ID', 'ID')
}

/** `policy: {onMissing: recreate}`: the edit in one line of YAML. */
function inOneLine({ path, value }: FieldEdit): string {
  return path.reduceRight(
    (inner, name, index) => (index === path.length - 1 ? `${name}: ${inner}` : `${name}: {${inner}}`),
    value,
  )
}
