import { errorStatement } from '../diagnostics/diagnostic.ts'
import { type Statement } from '../../kinds/finding.ts'

/** Content beyond a limit becomes a finding, never a crash. */
export const DEFAULT_LIMITS = {
  fileBytes: 1_048_576,
  files: 20_000, // and as many folders
  bytes: 33_554_432, // of all files
  allDocuments: 20_000, // of all files
  marks: 175_000, // in one file: they begin or separate values
  documentMarks: 50_000, // in one document, which is parsed without a break
  documents: 1_000, // of one file
  depth: 64, // of nested collections
  aliases: 100, // nodes that the aliases of one document can expand to
  findings: 50, // of one document
  findingsOfFile: 250, // after that, each document has one finding
}

export type Limits = Readonly<typeof DEFAULT_LIMITS>

const MARK = /[\n[{,:&*!\\]|[-?](?=\s)|["'](?=[\s"'])/g

/**
 * Offset of the match of `MARK` that reaches the limit. Matches are limited, because each costs the parser about ten
 * microseconds. Matches in quoted texts count, too.
 */
export function findTooMany(text: string, limit: number): number | undefined {
  if (text.length <= limit) return undefined
  return text
    .matchAll(MARK)
    .drop(limit - 1)
    .next().value?.index
}

export function tooDeep({ depth }: Limits): Statement {
  return errorStatement(
    'too-deep',
    `Collections are nested more than ${depth} deep.`,
    'Flatten the document; no manifest needs this.',
  )
}

export const TOO_MANY_FINDINGS = errorStatement(
  'too-many-findings',
  'This document has more findings that are not shown.',
  'Correct the shown findings first.',
)

export function tooManyDocuments({ documents }: Limits): Statement {
  return errorStatement(
    'too-many-documents',
    `The file holds more than ${documents} documents. This document and later documents are not read.`,
    'Split it into several files.',
  )
}

export function notSeparated(most: number): Statement {
  return errorStatement(
    'too-many-documents',
    `More than ${most} documents are here without "---" between them. None of them is read.`,
    'Put "---" at the beginning of a line between two documents.',
  )
}

export function tooComplex(what: string, marks: number): Statement {
  return errorStatement(
    'too-complex',
    `The ${what} holds more than ${marks} values, so it is not read.`,
    `Divide it into several ${what}s.`,
  )
}
