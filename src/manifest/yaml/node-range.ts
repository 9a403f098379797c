import { isAlias, isCollection, isMap, isNode, isScalar, isSeq, type Document, type Node } from 'yaml'
import type { FieldFinding } from '../../kinds/finding.ts'

export interface Range {
  readonly start: number
  readonly end: number
}

/** The text to mark for a path: a scalar, a collection's field name, or the nearest existing ancestor. */
export function rangeOf(document: Document, { path, at }: Pick<FieldFinding, 'path' | 'at'>): Range {
  let node = resolved(document, document.contents)
  let range = rangeOfRoot(document)
  for (const [index, step] of path.entries()) {
    const child = childOf(node, step)
    if (child === undefined) return range
    const isName = at === 'field' && index === path.length - 1
    range = (isName ? rangeOfNode(child.key) : rangeOfChild(child)) ?? range
    node = resolved(document, child.value)
  }
  return range
}

interface Child {
  readonly key?: unknown
  readonly value: unknown
}

function childOf(node: Node | undefined, step: string | number): Child | undefined {
  if (isMap(node)) return node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
  const item = isSeq(node) ? node.items[Number(step)] : undefined
  return item === undefined ? undefined : { value: item }
}

function rangeOfRoot(document: Document): Range {
  const { contents } = document
  const name = isMap(contents) ? rangeOfNode(contents.items[0]?.key) : undefined
  const start = document.range?.[0] ?? 0
  return name ?? rangeOfNode(contents) ?? { start, end: start + 1 }
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
