import type { Document } from 'yaml'
import { compareTexts, type Path } from '../diagnostics/diagnostic.ts'
import { rangeOfPath } from '../yaml/node-range.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import { createSourceText, type Place, type SourceText } from '../diagnostics/source-text.ts'
import { yamlDocuments } from '../yaml/parse-yaml.ts'

/** A value in a document whose place is needed. */
export interface Wanted {
  readonly document: ParsedDocument
  readonly path: Path
}

/** The places of values in documents. */
export interface Places {
  /** Looks for all of these, one document a step: a file is read once, and a document parsed once, however much is asked of it. */
  find(wanted: readonly Wanted[]): Generator<void>
  /** The place of what was looked for; of anything else, where its document begins. */
  readonly of: (document: ParsedDocument, path: Path) => Place
}

/** Places that were found, for as long as their documents last. */
export type KnownPlaces = WeakMap<ParsedDocument, Map<string, Place>>

/**
 * Finds places by parsing a text again: neither texts nor syntax trees are kept, since few findings need them, and both are large.
 * @param textOf the text of a file as it was when it was parsed; undefined when that cannot be had any more, and then the
 *   beginning of the document is all that is shown
 */
export function createPlaces(
  textOf: (file: string) => string | undefined,
  known: KnownPlaces = new WeakMap(),
): Places {
  return {
    *find(wanted) {
      const missing = wanted.filter(({ document, path }) => known.get(document)?.has(nameOf(path)) !== true)
      const byFile = Map.groupBy(missing, ({ document }) => document.position.file)
      for (const [file, ofFile] of [...byFile].toSorted(([a], [b]) => compareTexts(a, b))) {
        const text = textOf(file)
        if (text === undefined) continue
        const source = createSourceText(file, text)
        for (const [document, ofDocument] of Map.groupBy(ofFile, (each) => each.document)) {
          const places = known.get(document) ?? new Map<string, Place>()
          known.set(document, places)
          const tree = treeOf(document, text)
          for (const { path } of ofDocument) places.set(nameOf(path), placeIn(source, document, tree, path))
          yield
        }
      }
    },
    of: (document, path) => known.get(document)?.get(nameOf(path)) ?? beginningOf(document),
  }
}

function nameOf(path: Path): string {
  return JSON.stringify(path)
}

function treeOf({ chunk, start, readable }: ParsedDocument, text: string): Document | undefined {
  if (!readable) return undefined
  const { documents } = yamlDocuments(text.slice(chunk.start, chunk.end))
  return documents.find((candidate) => candidate.range[0] === start)
}

function placeIn(
  source: SourceText,
  { chunk, readable }: ParsedDocument,
  tree: Document | undefined,
  path: Path,
): Place {
  if (!readable) return source.place(chunk.start, chunk.end)
  const range = tree === undefined ? { start: 0, end: 1 } : rangeOfPath(tree, path)
  return source.place(chunk.start + range.start, chunk.start + range.end)
}

function beginningOf({ position }: ParsedDocument): Place {
  return { ...position, endColumn: position.column + 1, lineText: '' }
}
