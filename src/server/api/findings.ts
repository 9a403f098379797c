import type { Finding } from '../../kinds/finding.ts'
import {
  singleOf,
  paged,
  type Paged,
  partOf,
  pickedOf,
  wellFormedKey,
  wordsOf,
  type Query,
} from '../parameters.ts'
import type { ServerParts } from '../parts.ts'
import type { Answers } from './answers.ts'
import { findingsSelected, NARROWING, narrowingOf } from './selection.ts'

export interface FindingsReply extends Paged<Finding> {
  readonly counts: ReturnType<typeof countFindings>
}

export function countFindings(findings: readonly Finding[]) {
  const error = findings.filter(isError).length
  return { error, warning: findings.length - error }
}

const PARAMETERS = [...NARROWING, 'severity', 'key', 'offset', 'limit'] as const

export function findingsText(parts: ServerParts, answers: Answers, given: Query): string {
  const query = pickedOf(given, PARAMETERS)
  const severities = wordsOf(query, 'severity', ['error', 'warning'])
  const text = singleOf(query, 'key')
  const key = text === undefined ? undefined : wellFormedKey(text)
  const part = partOf(query)
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
    const counts = countFindings(findings)
    return JSON.stringify({ ...paged(errorsFirst(matching), part, query), counts } satisfies FindingsReply)
  })
}

export function errorsFirst(findings: readonly Finding[]): readonly Finding[] {
  return [...findings.filter(isError), ...findings.filter((finding) => !isError(finding))]
}

function isError({ severity }: Finding): boolean {
  return severity === 'error'
}
