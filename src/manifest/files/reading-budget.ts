import type { Finding } from '../../kinds/finding.ts'
import { findingOfFile } from '../diagnostics/diagnostic.ts'
import type { ParsedFile } from '../validate/parse-file.ts'
import type { Limits } from '../yaml/limits.ts'
import type { Slices } from '../validate/slices.ts'

/** What one reading of all files may take. Files that it has no room for are not read, and hold what is known of them. */
export interface ReadingBudget {
  /** Whether a file that was not parsed yet may be: there is room for its bytes, and time. Where not, it is remembered. */
  hasRoomFor(file: string, bytes: number): boolean
  /** A file that is part of the reading, parsed now or before. */
  takes(file: ParsedFile, bytes: number, how: 'known' | 'new'): void
  /** One finding for each limit that was reached. */
  findings(): readonly Finding[]
  /** Files that were left out. */
  left(): readonly string[]
  /** How many of them the next reading can go on with, since only time was short. */
  unfinished(): number
}

export function createReadingBudget(limits: Limits, slices: Slices): ReadingBudget {
  const tooMuch: string[] = []
  const tooLong: string[] = []
  let bytes = 0
  let documents = 0
  let parsed = 0
  return {
    hasRoomFor(file, more) {
      if (bytes + more > limits.bytes || documents >= limits.allDocuments) tooMuch.push(file)
      // One is always read, so that each reading gets further than the one before.
      else if (tooLong.length > 0 || (parsed > 0 && slices.spentMs() >= limits.cpuMs)) tooLong.push(file)
      else return true
      return false
    },
    takes(file, more, how) {
      bytes += more
      documents += file.documents.length
      if (how === 'new') parsed += 1
    },
    findings: () => [...aboutAmount(tooMuch, limits), ...aboutTime(tooLong, limits)],
    left: () => [...tooMuch, ...tooLong],
    unfinished: () => tooLong.length,
  }
}

function aboutAmount([first, ...more]: readonly string[], limits: Limits): readonly Finding[] {
  if (first === undefined) return []
  return [
    findingOfFile(first, {
      severity: 'error',
      code: 'too-many-manifests',
      message:
        `All files together hold more than ${limits.bytes / 1024 / 1024} MiB or ${limits.allDocuments} documents; ` +
        `${filesAre(more.length + 1)} not read, beginning with this one.`,
      hint: 'Run one instance for each part of the directory.',
    }),
  ]
}

function aboutTime([first, ...more]: readonly string[], limits: Limits): readonly Finding[] {
  if (first === undefined) return []
  return [
    findingOfFile(first, {
      severity: 'error',
      code: 'reading-too-long',
      message:
        `Reading took more than ${limits.cpuMs / 1_000} s of the processor; ` +
        `${filesAre(more.length + 1)} not read yet, beginning with this one.`,
      hint: 'A daemon goes on with them in its next reading; a command does not: read fewer files at once, or split those that are large.',
    }),
  ]
}

function filesAre(count: number): string {
  return count === 1 ? '1 file is' : `${count} files are`
}
