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
import { findingsSelected, NARROWING, narrowingOf } from './selection.ts'

export interface FindingsReply extends Paged<Finding> {
  readonly counts: ReturnType<typeof countFindings>
}

export function countFindings(findings: readonly Finding[]) {
  const error = findings.filter(isError).length
  return { error, warning: findings.length - error }
}

const PARAMETERS = [...NARROWING, 'severity', 'key', 'offset', 'limit'] as const

export function findingsReply(parts: ServerParts, given: Query): FindingsReply {
  const query = pickedOf(given, PARAMETERS)
  const severities = wordsOf(query, 'severity', ['error', 'warning'])
  const text = singleOf(query, 'key')
  const key = text === undefined ? undefined : wellFormedKey(text)
  const { findings } = parts.overview()
  const isPart = findingsSelected(parts.board.list(), narrowingOf(query))
  const matching = findings.filter(
    (finding) =>
      (severities?.has(finding.severity) ?? true) &&
      (key === undefined || finding.key === key) &&
      isPart(finding),
  )
  return { ...paged(errorsFirst(matching), partOf(query), query), counts: countFindings(findings) }
}

export function errorsFirst(findings: readonly Finding[]): readonly Finding[] {
  return [...findings.filter(isError), ...findings.filter((finding) => !isError(finding))]
}

function isError({ severity }: Finding): boolean {
  return severity === 'error'
}
