import type { Document } from 'yaml'
import type { Path } from '../../kinds/finding.ts'
import { rangeOf } from '../yaml/node-range.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import { createSourceText, type Place, type SourceText } from '../diagnostics/source-text.ts'
import { yamlDocuments } from '../yaml/parse-yaml.ts'

export type Places = ReturnType<typeof createPlaces>

/**
 * Finds places in documents. It parses the text again, because texts and syntax trees are too large to keep
 * and rarely needed.
 * @param textOf returns undefined if the file changed since it was parsed
 */
export function createPlaces(textOf: (file: string) => string | undefined) {
  const known = new WeakMap<ParsedDocument, Map<string, Place>>()
  return {
    *find(wanted: readonly { readonly document: ParsedDocument; readonly path: Path }[]) {
      const missing = wanted.filter(({ document, path }) => known.get(document)?.has(nameOf(path)) !== true)
      for (const [file, ofFile] of Map.groupBy(missing, ({ document }) => document.position.file)) {
        const text = textOf(file)
        if (text === undefined) continue
        const source = createSourceText(file, text)
        for (const [document, ofDocument] of Map.groupBy(ofFile, (each) => each.document)) {
          const places = known.getOrInsertComputed(document, () => new Map())
          const tree = treeOf(document, text)
          for (const { path } of ofDocument) places.set(nameOf(path), placeIn(source, document, tree, path))
          yield
        }
      }
    },
    of: (document: ParsedDocument, path: Path): Place => {
      const { position } = document
      const beginning = { ...position, endColumn: position.column + 1, lineText: '' }
      return known.get(document)?.get(nameOf(path)) ?? beginning
    },
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
  const range = tree === undefined ? { start: 0, end: 1 } : rangeOf(tree, { path })
  return source.place(chunk.start + range.start, chunk.start + range.end)
}
