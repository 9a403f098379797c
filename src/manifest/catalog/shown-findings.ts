import type { Finding } from '../../kinds/finding.ts'
import { byPosition, findingOfFile } from '../diagnostics/diagnostic.ts'

/** Findings of one reading that are shown, about: nobody reads more, and each is kept, compared and sent to whoever asks. */
const SHOWN = 2_000

/** Of so many files at most. */
const FILES_SHOWN = 500

/**
 * The findings of a reading in the order of file, line and column. Of very many, each file shows as many as the others, so that one
 * file hides nothing of another, and it is said how many more there are.
 */
export function shownFindings(all: readonly Finding[]): readonly Finding[] {
  if (all.length <= SHOWN) return all.toSorted(byPosition)
  const sorted = [...Map.groupBy(all, ({ file }) => file)].map(
    ([file, findings]) => [file, findings.toSorted(errorsFirst)] as const,
  )
  // A file with few findings is one that somebody else wrote than a file with thousands.
  const byFile = sorted.toSorted(([, a], [, b]) => a.length - b.length)
  const most = fairShare(byFile.slice(0, FILES_SHOWN).map(([, findings]) => findings.length))
  const shown = byFile
    .slice(0, FILES_SHOWN)
    .flatMap(([file, findings]) =>
      findings.length <= most
        ? findings
        : [...findings.slice(0, most), leftOut(file, findings.slice(most), 'The file has')],
    )
  const others = byFile.slice(FILES_SHOWN)
  const [first] = others
  if (first !== undefined) {
    const rest = others.flatMap(([, findings]) => findings)
    shown.push(leftOut(first[0], rest, `This file and ${others.length - 1} others have`))
  }
  return shown.toSorted(byPosition)
}

/** How many each may have, so that all together have no more than are shown. */
function fairShare(sizes: readonly number[]): number {
  let left = SHOWN
  let share = SHOWN
  for (const [index, size] of sizes.entries()) {
    share = Math.floor(left / (sizes.length - index))
    if (size > share) break
    left -= size
  }
  return share
}

function errorsFirst(a: Finding, b: Finding): number {
  return Number(a.severity === 'warning') - Number(b.severity === 'warning') || byPosition(a, b)
}

function leftOut(file: string, rest: readonly Finding[], subject: string): Finding {
  const severity = rest.some((finding) => finding.severity === 'error') ? 'error' : 'warning'
  return findingOfFile(file, {
    severity,
    code: 'too-many-findings',
    message: `${subject} ${rest.length} more findings; they are not shown.`,
    hint: 'Correct the ones that are shown first.',
  })
}
