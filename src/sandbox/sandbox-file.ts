import { readFile } from 'node:fs/promises'
import { isNode, LineCounter, parseDocument, type Document } from 'yaml'
import type { z } from '../kinds/zod.ts'
import { wordIssue } from './wire-schema.ts'

export class SandboxFileError extends Error {
  override readonly name = 'SandboxFileError'
}

/** Reads YAML or JSON. @throws {SandboxFileError} */
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
  const problems = [...doc.errors, ...doc.warnings].map(({ pos, message, code }) =>
    code === 'MULTIPLE_DOCS'
      ? `${at(pos[0])}: a second document begins here`
      : `${at(pos[0])}: is not YAML: ${message}`,
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
  } catch (cause) {
    throw new SandboxFileError(`${file}: its YAML aliases cannot be resolved. Write the values out`, {
      cause,
    })
  }
}

/** Position of the path, or of its nearest existing parent. */
function offsetOf(doc: Document, path: readonly PropertyKey[]): number {
  const node = path.length === 0 ? doc.contents : doc.getIn(path, true)
  if (isNode(node) && node.range) return node.range[0]
  return path.length === 0 ? 0 : offsetOf(doc, path.slice(0, -1))
}
