import { readFile } from 'node:fs/promises'
import { LineCounter, parseDocument, type Document } from 'yaml'
import type { z } from '../kinds/zod.ts'
import { offsetOf } from '../lib/yaml-offset.ts'
import { wordIssue } from './request-schema.ts'

/** A file of the sandbox that cannot be used; the message says what is wrong with it, a line for each mistake, with its place. */
export class SandboxFileError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SandboxFileError'
  }
}

/**
 * Reads a file of the sandbox, YAML or JSON; an empty one says nothing.
 * @throws {SandboxFileError} when it cannot be read, is not YAML, or says something unknown
 */
export async function readSandboxFile<T>(file: string, schema: z.ZodType<T>): Promise<T> {
  const content = await readFile(file, 'utf8').catch((error: Error) => {
    throw new SandboxFileError(`${file}: cannot be read: ${error.message}`, { cause: error })
  })
  const lines = new LineCounter()
  const doc = parseDocument(content, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  const problems = [...doc.errors, ...doc.warnings].map(
    ({ pos, message }) => `${at(pos[0])}: is not YAML: ${message}`,
  )
  if (problems.length > 0) throw new SandboxFileError(problems.join('\n'))
  const result = schema.safeParse(valueOf(doc, file) ?? {})
  if (result.success) return result.data
  const mistakes = result.error.issues
    .map((issue) => ({ offset: offsetOf(doc, issue.path), words: wordIssue(issue) }))
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, words }) => `${at(offset)}: ${words}`)
  throw new SandboxFileError(mistakes.join('\n'), { cause: result.error })
}

function valueOf(doc: Document, file: string): unknown {
  try {
    return doc.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw new SandboxFileError(`${file}: its aliases cannot be resolved; write it without them`, {
      cause: error,
    })
  }
}
