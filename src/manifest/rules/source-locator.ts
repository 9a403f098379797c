import type { Document } from 'yaml'
import type { Path } from '../diagnostics/diagnostic.ts'
import { rangeOfPath } from '../yaml/node-range.ts'
import type { ParsedDocument } from '../validate/parse-document.ts'
import { createSourceText, type Place, type SourceText } from '../diagnostics/source-text.ts'
import { yamlDocuments } from '../yaml/parse-yaml.ts'

/** The place of a value in a document. */
export type Places = (document: ParsedDocument, path: Path) => Place

/** Places that were found, for as long as their documents last. */
export type KnownPlaces = WeakMap<ParsedDocument, Map<string, Place>>

/**
 * Finds places by parsing a text again when somebody asks: neither texts nor syntax trees are kept, since few findings
 * need them, and both are large. Of one reading, those of the last file and document that were asked for are at hand, since many
 * findings of one file come one after the other.
 * @param textOf the text of a file as it was when it was parsed; undefined when that cannot be had any more, and then the
 *   beginning of the document is all that is shown
 */
export function createPlaces(
  textOf: (file: string) => string | undefined,
  known: KnownPlaces = new WeakMap(),
): Places {
  let source: SourceText | undefined
  let parsed: { readonly document: ParsedDocument; readonly tree: Document | undefined } | undefined

  function sourceOf(file: string): SourceText | undefined {
    if (source?.file === file) return source
    const text = textOf(file)
    source = text === undefined ? undefined : createSourceText(file, text)
    return source
  }

  function treeOf(document: ParsedDocument, { text }: SourceText): Document | undefined {
    if (parsed?.document === document) return parsed.tree
    const { chunk, start } = document
    const { documents } = yamlDocuments(text.slice(chunk.start, chunk.end))
    parsed = { document, tree: documents.find((candidate) => candidate.range[0] === start) }
    return parsed.tree
  }

  return (document, path) => {
    const places = known.get(document) ?? new Map<string, Place>()
    known.set(document, places)
    const name = JSON.stringify(path)
    const kept = places.get(name)
    if (kept !== undefined) return kept
    const text = sourceOf(document.position.file)
    if (text === undefined) return beginningOf(document)
    const place = placeIn(text, document, () => treeOf(document, text), path)
    places.set(name, place)
    return place
  }
}

function placeIn(
  source: SourceText,
  { chunk, readable }: ParsedDocument,
  treeOf: () => Document | undefined,
  path: Path,
): Place {
  if (!readable) return source.place(chunk.start, chunk.end)
  const tree = treeOf()
  const range = tree === undefined ? { start: 0, end: 1 } : rangeOfPath(tree, path)
  return source.place(chunk.start + range.start, chunk.start + range.end)
}

function beginningOf({ position }: ParsedDocument): Place {
  return { ...position, endColumn: position.column + 1, lineText: '' }
}
