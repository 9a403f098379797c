import type { z } from 'zod'
import { SOURCE_KINDS } from '../kinds/pipe/source-schema.ts'
import type { PipeRequest } from './request-schema.ts'

/** What is wrong with a body of the right shape, or `undefined`. The rules of `spec/api.md` 2.3 and 2.5. */
export function objectionTo(pipe: PipeRequest): string | undefined {
  const kinds = SOURCE_KINDS.filter((kind) => pipe.source[kind] !== undefined)
  if (kinds.length !== 1) {
    const found = kinds.length === 0 ? 'none is set' : `${kinds.join(' and ')} are set`
    return `source: a pipe uses one source kind, but ${found}`
  }
  const mapped = new Set(pipe.fieldMappings?.map((mapping) => mapping.destinationField))
  const uncovered = (pipe.destination?.columns ?? []).filter((column) => !mapped.has(column.name))
  return uncovered.length === 0
    ? undefined
    : `fieldMappings: must include all destination columns; missing: ${uncovered.map(({ name }) => name).join(', ')}`
}

/** The issues of a shape as one text. */
export function wordIssues(error: z.core.$ZodError): string {
  return error.issues.map(wordIssue).join('; ')
}

/** It names fields and types and never a value: values may be secrets. */
export function wordIssue(issue: z.core.$ZodIssue): string {
  const at = issue.path.length === 0 ? 'body' : issue.path.join('.')
  if (issue.code === 'unrecognized_keys') return `${at}: unknown field ${issue.keys.join(', ')}`
  return `${at}: ${issue.message}`
}
