import type { Document } from 'yaml'
import type { Finding, Position } from '../../kinds/finding.ts'
import type { Key } from '../../kinds/key.ts'
import { byPosition, findingAt } from '../diagnostics/diagnostic.ts'
import type { SourceText } from '../diagnostics/source-text.ts'
import type { Range } from '../yaml/node-range.ts'
import type { Chunk } from '../yaml/parse-yaml.ts'
import type { YamlFinding } from '../yaml/syntax-findings.ts'
import type { Identity } from './outline.ts'
import type { ParsedDocument } from './parsed-document.ts'
import { statedInNodes } from './stated.ts'

export const NO_LOCKS: ReadonlyMap<Key, string> = new Map()

/** Findings of a document that is no YAML: what the parser says beyond these follows from them, mostly. */
const MOST_BROKEN = 20

/** A document of which nothing can be used, with its findings placed. */
export function unreadable(
  source: SourceText,
  chunk: Chunk,
  unplaced: readonly YamlFinding[],
  identity: Identity,
  document?: Document,
): ParsedDocument {
  // What is missing at the end of a document is shown at its last character, not in the document after it.
  const last = Math.max(0, source.text.slice(chunk.start, chunk.end).trimEnd().length - 1)
  const place = (range: Range) => {
    const start = chunk.start + Math.min(range.start, last)
    return source.place(
      start,
      Math.max(chunk.start + Math.min(range.end, last + 1), endOfWord(source.text, start)),
    )
  }
  const seen = new Set<string>()
  const findings = unplaced
    .toSorted((a, b) => a.range.start - b.range.start)
    .filter(({ statement, range }) => {
      const mark = `${statement.code} ${Math.min(range.start, last)}`
      return seen.has(mark) ? false : seen.add(mark)
    })
    .slice(0, MOST_BROKEN)
    .map(({ statement, range, first }) =>
      findingAt(place(range), statement, {
        key: identity.key,
        related: first === undefined ? [] : [relatedAt(place(first.range), first.message)],
      }),
    )
    .toSorted(byPosition)
  return {
    ...identity,
    position: startOf(source, chunk, document),
    manifest: undefined,
    rest: undefined,
    stated: document === undefined ? undefined : statedInNodes(document),
    meaning: undefined,
    findings,
    locks: NO_LOCKS,
    readable: false,
    chunk,
    start: document?.range?.[0] ?? 0,
  }
}

function relatedAt({ file, line, column }: Position, message: string): Finding['related'][number] {
  return { file, line, column, message }
}

/** The parser often gives only where something begins; a whole word is easier to see. */
function endOfWord(text: string, start: number): number {
  const word = /[\w$.-]{1,80}/y
  word.lastIndex = start
  return start + (word.exec(text)?.[0].length ?? 0)
}

/** Where the content of a document begins. */
export function startOf(source: SourceText, chunk: Chunk, document: Document | undefined): Position {
  const start = chunk.start + (document?.contents?.range?.[0] ?? document?.range?.[0] ?? 0)
  return { file: source.file, ...source.position(start) }
}
