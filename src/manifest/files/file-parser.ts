import type { Finding } from '../../kinds/finding.ts'
import { findingOfFile } from '../diagnostics/diagnostic.ts'
import { createFindingRoom, type ParseOptions } from '../validate/parse-document.ts'
import { parseSteps, type FileContent, type ParsedFile } from '../validate/parse-file.ts'
import { createSlices, inSlices } from '../validate/slices.ts'
import type { Limits } from '../yaml/limits.ts'

/** Parses the files of each reading. A file that exceeds the limits keeps its content from the reading before. */
export function createFileParser(
  options: Pick<ParseOptions, 'profile' | 'limits'> & { readonly signal: AbortSignal },
) {
  const { limits, signal } = options
  const slices = createSlices()
  const room = createFindingRoom()
  const left: string[] = []
  let bytes = 0
  let documents = 0

  function add(file: ParsedFile, more: number): void {
    bytes += more
    documents += file.documents.length
  }

  return {
    add,
    left,
    async parse(content: FileContent) {
      const { length } = content.bytes
      if (bytes + length > limits.bytes || documents >= limits.allDocuments) {
        left.push(content.file)
        return undefined
      }
      const file = await inSlices(parseSteps(content, { ...options, room }), slices)
      add(file, length)
      return file
    },
    async pause() {
      signal.throwIfAborted()
      await slices.pause()
    },
    findings: () => left.slice(0, 1).map((first) => tooManyManifests(first, left.length, limits)),
  }
}

function tooManyManifests(first: string, count: number, limits: Limits): Finding {
  return findingOfFile(first, {
    severity: 'error',
    code: 'too-many-manifests',
    message:
      `All files together have more than ${limits.bytes / 1024 / 1024} MiB or ${limits.allDocuments} documents. ` +
      `${count === 1 ? 'This file is' : `${count} files, of which this is the first, are`} not read.`,
    hint: 'Split the directory, and run one instance per part.',
  })
}
