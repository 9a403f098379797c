import type { Finding } from '../../kinds/finding.ts'
import { nextPage, oneOf, partOf, pickedOf, wellFormedKey, wordsOf, type Query } from '../parameters.ts'
import type { ServerParts } from '../parts.ts'
import type { Answers } from './answers.ts'
import { findingsSelected, NARROWING, narrowingOf } from './selection.ts'

export interface FindingsReply {
  /** At most 500. */
  readonly items: readonly Finding[]
  /** On all pages. */
  readonly total: number
  /** Without the query. */
  readonly counts: FindingCounts
  /** Relative address. Undefined: last page. */
  readonly next: string | undefined
}

export interface FindingCounts {
  readonly error: number
  readonly warning: number
}

export function countFindings(findings: readonly Finding[]): FindingCounts {
  const error = findings.filter(({ severity }) => severity === 'error').length
  return { error, warning: findings.length - error }
}

const PARAMETERS = [...NARROWING, 'severity', 'key', 'offset', 'limit'] as const

/**
 * `GET /api/v1/findings`: last read, errors first. Parameters: `severity`, `key`, `offset`, `limit`, {@link
 * NARROWING}.
 */
export function findingsText(parts: ServerParts, answers: Answers, given: Query): string {
  const query = pickedOf(given, PARAMETERS)
  const severities = wordsOf(query, 'severity', ['error', 'warning'])
  const text = oneOf(query, 'key')
  const key = text === undefined ? undefined : wellFormedKey(text)
  const { offset, limit } = partOf(query, { least: 1, absent: 100 })
  const narrowing = narrowingOf(query)
  const now = parts.overview()
  const { findings } = now
  return answers.text(['findings', query], now, () => {
    const isPart = findingsSelected(parts.board.list(), narrowing)
    const matching = findings.filter(
      (finding) =>
        (severities?.has(finding.severity) ?? true) &&
        (key === undefined || finding.key === key) &&
        isPart(finding),
    )
    const items = errorsFirst(matching).slice(offset, offset + limit)
    const end = offset + items.length
    const isLast = items.length === 0 || end >= matching.length
    return JSON.stringify({
      items,
      total: matching.length,
      counts: countFindings(findings),
      next: isLast ? undefined : nextPage(query, { offset: String(end) }),
    } satisfies FindingsReply)
  })
}

export function errorsFirst(findings: readonly Finding[]): readonly Finding[] {
  return [...findings.filter(isError), ...findings.filter((finding) => !isError(finding))]
}

function isError({ severity }: Finding): boolean {
  return severity === 'error'
}
