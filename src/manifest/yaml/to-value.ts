import { isAlias, isMap, isScalar, isSeq, type Document, type Pair } from 'yaml'
import type { Limits } from './limits.ts'
import type { Range } from './node-range.ts'
import { duplicateFinding, explosionFinding, type YamlFinding } from './syntax-findings.ts'

export interface Conversion {
  readonly value: unknown
  readonly findings: readonly YamlFinding[]
}

interface Walk {
  readonly findings: YamlFinding[]
  readonly limit: number
  hasAliases: boolean
}

/** One lookup per field: the parser's own check compares all pairs of a mapping. */
export function convert(document: Document.Parsed, limits: Limits): Conversion {
  const walk: Walk = { findings: [], limit: limits.findings, hasAliases: false }
  const value = valueOf(document.contents, walk)
  if (walk.findings.length > 0 || !walk.hasAliases) return { value, findings: walk.findings }
  try {
    return { value: document.toJS({ maxAliasCount: limits.aliases }) as unknown, findings: [] }
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    return { value: undefined, findings: [explosionFinding(document, limits)] }
  }
}

/** Of a possibly broken document. The first of repeated fields wins, and null replaces an alias. */
export function plainValue({ contents }: Document): unknown {
  return valueOf(contents, { findings: [], limit: 0, hasAliases: false })
}

function valueOf(node: unknown, walk: Walk): unknown {
  if (isScalar(node)) return node.value
  if (isMap(node)) return objectOf(node.items, walk)
  if (isSeq(node)) return node.items.map((item) => valueOf(item, walk))
  if (isAlias(node)) walk.hasAliases = true
  return null
}

function objectOf(pairs: readonly Pair[], walk: Walk): unknown {
  const object: Record<string, unknown> = {}
  let firsts: ReadonlyMap<string, Pair> | undefined
  for (const pair of pairs) {
    const { key, value } = pair
    const name = nameOf(pair)
    if (Object.hasOwn(object, name)) {
      if (walk.findings.length <= walk.limit) {
        firsts ??= new Map(pairs.toReversed().map((one) => [nameOf(one), one]))
        walk.findings.push(duplicateFinding(name, rangeOfKey(key), rangeOfKey(firsts.get(name)?.key)))
      }
    }
    // A field named `__proto__` is an ordinary field here.
    else if (name === '__proto__') {
      Object.defineProperty(object, name, {
        value: valueOf(value, walk),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    } else object[name] = valueOf(value, walk)
  }
  return object
}

function nameOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : ''
}

function rangeOfKey(key: unknown): Range {
  const [start, end] = (isScalar(key) ? key.range : undefined) ?? [0, 1]
  return { start, end }
}
