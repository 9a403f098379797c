import { isAlias, isCollection, isMap, isNode, isPair, isScalar, isSeq, type Document, type Node } from 'yaml'
import type { Path } from '../diagnostics/diagnostic.ts'

export interface Range {
  readonly start: number
  readonly end: number
}

/** Marks a scalar, a collection's field name, or the nearest existing ancestor. */
export function rangeOfPath(document: Document, path: Path): Range {
  let node = resolved(document, document.contents)
  let range = rangeOfRoot(document)
  for (const step of path) {
    const child = childOf(node, step)
    if (child === undefined) return range
    range = rangeOfChild(child) ?? range
    node = resolved(document, child.value)
  }
  return range
}

/** Marks the nearest ancestor if there is no such field. */
export function rangeOfField(document: Document, path: Path): Range {
  const parent = path.slice(0, -1)
  const node = parent.reduce(
    (above, step) => resolved(document, childOf(above, step)?.value),
    resolved(document, document.contents),
  )
  return rangeOfNode(childOf(node, path.at(-1))?.key) ?? rangeOfPath(document, parent)
}

interface Child {
  readonly key?: unknown
  readonly value: unknown
}

function childOf(node: Node | undefined, step: string | number | undefined): Child | undefined {
  if (isMap(node)) return node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
  const item = isSeq(node) ? node.items[Number(step)] : undefined
  return item === undefined ? undefined : { value: isPair(item) ? item.value : item }
}

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

function rangeOfChild({ key, value }: Child): Range | undefined {
  const range = rangeOfNode(value)
  const isShown = (isScalar(value) || isAlias(value)) && range !== undefined && range.end > range.start
  return isShown ? range : (rangeOfNode(key) ?? range)
}

function rangeOfNode(node: unknown): Range | undefined {
  if (!isNode(node) || node.range === undefined || node.range === null) return undefined
  return { start: node.range[0], end: node.range[1] }
}

function resolved(document: Document, node: unknown): Node | undefined {
  if (isAlias(node)) {
    const target: unknown = node.resolve(document)
    return isCollection(target) || isScalar(target) ? target : undefined
  }
  return isNode(node) ? node : undefined
}
