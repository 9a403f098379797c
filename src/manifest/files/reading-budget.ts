import type { Finding } from '../../kinds/finding.ts'
import { findingOfFile } from '../diagnostics/diagnostic.ts'
import type { ParsedFile } from '../validate/parse-file.ts'
import type { Limits } from '../yaml/limits.ts'

/** Files beyond the limits keep their last content. */
export interface ReadingBudget {
  /** Adds a file without room to `left`. */
  hasRoomFor(file: string, bytes: number): boolean
  add(file: ParsedFile, bytes: number): void
  readonly left: readonly string[]
  findings(): readonly Finding[]
}

export function createReadingBudget(limits: Limits): ReadingBudget {
  const left: string[] = []
  let bytes = 0
  let documents = 0
  return {
    left,
    hasRoomFor(file, more) {
      const hasRoom = bytes + more <= limits.bytes && documents < limits.allDocuments
      if (!hasRoom) left.push(file)
      return hasRoom
    },
    add(file, more) {
      bytes += more
      documents += file.documents.length
    },
    findings: () => left.slice(0, 1).map((first) => tooManyManifests(first, left.length, limits)),
  }
}

function tooManyManifests(first: string, count: number, limits: Limits): Finding {
  return findingOfFile(first, {
    severity: 'error',
    code: 'too-many-manifests',
    message:
      `All files together hold more than ${limits.bytes / 1024 / 1024} MiB or ${limits.allDocuments} documents; ` +
      `${count === 1 ? '1 file is' : `${count} files are`} not read, beginning with this one.`,
    hint: 'Run one instance for each part of the directory.',
  })
}
