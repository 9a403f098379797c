import type { Path } from './findings.ts'
import { rangeOfPath } from './node-range.ts'
import type { ParsedDocument } from './parse-document.ts'
import { createSourceText } from './source-text.ts'
import type { Place } from './source-text.ts'
import { yamlDocuments } from './yaml-documents.ts'

/** The place of a value in a document. */
export type Places = (document: ParsedDocument, path: Path) => Place

/**
 * Finds places by parsing a text again when somebody asks: neither texts nor syntax trees are kept, since few findings
 * need them, and both are large. What was found is kept as long as its document.
 * @param textOf the text of a file as it was when it was parsed; undefined when that cannot be had any more, and then the
 *   beginning of the document is all that is shown
 */
export function createPlaces(textOf: (file: string) => string | undefined): Places {
  const known = new WeakMap<ParsedDocument, Map<string, Place>>()
  return (document, path) => {
    const places = known.get(document) ?? new Map<string, Place>()
    known.set(document, places)
    const name = JSON.stringify(path)
    const kept = places.get(name)
    if (kept !== undefined) return kept
    const text = textOf(document.position.file)
    if (text === undefined) return beginningOf(document)
    const place = find(document, text, path)
    places.set(name, place)
    return place
  }
}

function find({ chunk, start, readable, position }: ParsedDocument, text: string, path: Path): Place {
  const source = createSourceText(position.file, text)
  if (!readable) return source.place(chunk.start, chunk.end)
  const { documents } = yamlDocuments(text.slice(chunk.start, chunk.end))
  const tree = documents.find((candidate) => candidate.range[0] === start)
  const range = tree === undefined ? { start: 0, end: 1 } : rangeOfPath(tree, path)
  return source.place(chunk.start + range.start, chunk.start + range.end)
}

function beginningOf({ position }: ParsedDocument): Place {
  return { ...position, endColumn: position.column + 1, lineText: '' }
}
