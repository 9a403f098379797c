import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Document,
  type Node,
  type Pair,
} from 'yaml'
import type { Path } from '../diagnostics/diagnostic.ts'

/** Start and end of what is to be marked, as offsets. */
export interface Range {
  readonly start: number
  readonly end: number
}

/**
 * Marks the value at a path: a scalar itself, a collection by its field's name, as its text would be too much.
 * Where the path leads to nothing, the nearest ancestor is marked.
 */
export function rangeOfPath(document: Document, path: Path): Range {
  let node = resolved(document, document.contents)
  let range = rangeOfRoot(document)
  for (const step of path) {
    const pair = isMap(node) ? node.items.find((item) => nameOfPair(item) === String(step)) : undefined
    const child = pair === undefined ? itemAt(node, step) : pair.value
    if (pair === undefined && child === undefined) return range
    range = rangeOfChild(pair, child) ?? range
    node = resolved(document, child)
  }
  return range
}

/** Marks the name of the field at a path, or the nearest ancestor when there is no such field. */
export function rangeOfField(document: Document, path: Path): Range {
  const parent = path.slice(0, -1)
  const name = String(path.at(-1))
  let node = resolved(document, document.contents)
  for (const step of parent) {
    const pair = isMap(node) ? node.items.find((item) => nameOfPair(item) === String(step)) : undefined
    node = resolved(document, pair === undefined ? itemAt(node, step) : pair.value)
  }
  const field = isMap(node) ? node.items.find((item) => nameOfPair(item) === name) : undefined
  return rangeOfNode(field?.key) ?? rangeOfPath(document, parent)
}

/** The whole of a document's first line of content. */
function rangeOfRoot(document: Document): Range {
  const { contents } = document
  if (isMap(contents)) {
    const first = contents.items[0]
    return rangeOfNode(first?.key) ?? rangeOfNode(contents) ?? emptyRange(document)
  }
  return rangeOfNode(contents) ?? emptyRange(document)
}

function emptyRange(document: Document): Range {
  const start = document.range?.[0] ?? 0
  return { start, end: start + 1 }
}

function rangeOfChild(pair: Pair | undefined, child: unknown): Range | undefined {
  const value = rangeOfNode(child)
  if (pair === undefined) return value
  const shown = isScalar(child) || isAlias(child) ? value : undefined
  return shown !== undefined && shown.end > shown.start ? shown : (rangeOfNode(pair.key) ?? value)
}

function rangeOfNode(node: unknown): Range | undefined {
  if (!isNode(node) || node.range === undefined || node.range === null) return undefined
  return { start: node.range[0], end: node.range[1] }
}

function itemAt(node: Node | undefined, step: string | number): unknown {
  if (!isSeq(node)) return undefined
  const item = node.items[Number(step)]
  return isPair(item) ? item.value : item
}

function resolved(document: Document, node: unknown): Node | undefined {
  if (isAlias(node)) {
    const target: unknown = node.resolve(document)
    return isCollection(target) || isScalar(target) ? target : undefined
  }
  return isNode(node) ? node : undefined
}

function nameOfPair(pair: Pair): string | undefined {
  return isScalar(pair.key) ? String(pair.key.value) : undefined
}
