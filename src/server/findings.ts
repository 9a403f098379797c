import type { FastifyInstance } from 'fastify'
import type { Finding } from '../kinds/finding.ts'
import type { ServerParts } from './parts.ts'
import { oneOf, wellFormedKey, wholeOf, wordsOf, type Query } from './query.ts'

export interface FindingCounts {
  readonly error: number
  readonly warning: number
}

/** `GET /api/v1/findings`: those of the last reading, errors first. `severity`, `key`, `offset`, `limit`. */
export function registerFindings(app: FastifyInstance, parts: ServerParts): void {
  app.get<{ Querystring: Query }>('/api/v1/findings', ({ query }) => {
    const severities = wordsOf(query, 'severity', ['error', 'warning'])
    const text = oneOf(query, 'key')
    const key = text === undefined ? undefined : wellFormedKey(text)
    const offset = wholeOf(query, 'offset', { least: 0, most: 10_000_000, absent: 0 })
    const limit = wholeOf(query, 'limit', { least: 1, most: 1_000, absent: 100 })
    const { findings } = parts.overview()
    const matching = errorsFirst(findings).filter(
      (finding) => (severities?.has(finding.severity) ?? true) && (key === undefined || finding.key === key),
    )
    return {
      items: matching.slice(offset, offset + limit),
      total: matching.length,
      counts: countFindings(findings),
    }
  })
}

export function countFindings(findings: readonly Finding[]): FindingCounts {
  const error = findings.filter(({ severity }) => severity === 'error').length
  return { error, warning: findings.length - error }
}

export function errorsFirst(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'))
}
