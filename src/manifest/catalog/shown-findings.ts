import type { Finding } from '../../kinds/finding.ts'
import { byPosition, findingOfFile } from '../diagnostics/diagnostic.ts'

/** Each finding is kept, compared and sent to all clients. */
const MAX_FINDINGS = 2_000

/** Applies only beyond {@link MAX_FINDINGS}. */
const MAX_FINDINGS_OF_FILE = 20

/** Sorted by position. Beyond the limit, one file cannot crowd out another. */
export function shownFindings(all: readonly Finding[]): readonly Finding[] {
  if (all.length <= MAX_FINDINGS) return all.toSorted(byPosition)
  const byFile = [...Map.groupBy(all, ({ file }) => file).values()].map((findings) =>
    findings.toSorted(errorsFirst),
  )
  // A file with very many findings is usually generated.
  const few = byFile
    .toSorted((a, b) => a.length - b.length)
    .flatMap((findings) => findings.slice(0, MAX_FINDINGS_OF_FILE))
  const shown = few.slice(0, MAX_FINDINGS)
  const isShown = new Set(shown)
  const rest = all.filter((finding) => !isShown.has(finding)).toSorted(errorsFirst)
  const [first] = rest
  return first === undefined ? shown : [...shown, moreAfter(first, rest.length)].toSorted(byPosition)
}

function errorsFirst(a: Finding, b: Finding): number {
  return Number(a.severity === 'warning') - Number(b.severity === 'warning') || byPosition(a, b)
}

function moreAfter({ file, severity }: Finding, count: number): Finding {
  return findingOfFile(file, {
    severity,
    code: 'too-many-findings',
    message: `The directory has ${count} more findings; they are not shown. One is in this file.`,
    hint: 'Correct these first.',
  })
}
