/** What one reading may cost; whatever is beyond is a finding, never a crash. */
export interface Limits {
  /** Bytes of one file. */
  readonly fileBytes: number
  /** Files of one reading; folders have the same limit. */
  readonly files: number
  /** Marks of one file that begin a value or separate two. */
  readonly marks: number
  /** Documents of one file. */
  readonly documents: number
  /** Nesting of collections in one document. */
  readonly depth: number
  /** How many nodes the aliases of one document may stand for. */
  readonly aliases: number
  /** Findings of one document. */
  readonly findings: number
}

export const DEFAULT_LIMITS: Limits = {
  fileBytes: 1_048_576,
  files: 20_000,
  marks: 175_000,
  documents: 1_000,
  depth: 64,
  aliases: 100,
  findings: 200,
}
