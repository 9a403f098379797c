import { isAlias, isMap, isScalar, isSeq, type Alias, type Document, type Node, type Pair } from 'yaml'
import type { Limits } from './limits.ts'
import type { Range } from './node-range.ts'
import {
  CIRCULAR_ALIAS,
  OCTAL,
  UNKNOWN_ALIAS,
  duplicateFinding,
  explosionFinding,
  type YamlFinding,
} from './syntax-findings.ts'

/** Limited even if each alias expands to little, because resolving aliases takes quadratic time. */
const MOST_ALIASES = 1_000

interface Walk {
  readonly aliases: YamlFinding[]
  readonly repeated: YamlFinding[]
  /** Findings on numbers such as 010, which YAML 1.1 reads as octal: 8. */
  readonly octals: YamlFinding[]
  readonly limit: number
  readonly anchors: Map<string, Node>
  readonly open: Node[]
  firstAlias: Range | undefined
  aliasCount: number
}

/**
 * Makes a value, even from a broken document. The first of repeated fields wins, and null replaces an alias.
 * Repeated fields cost one lookup each; the parser's own check compares all pairs of a mapping.
 */
export function convert(document: Document.Parsed, limits: Limits) {
  const walk: Walk = {
    aliases: [],
    repeated: [],
    octals: [],
    limit: limits.findings,
    anchors: new Map(),
    open: [],
    firstAlias: undefined,
    aliasCount: 0,
  }
  const value = valueOf(document.contents, walk)
  const { firstAlias, aliasCount } = walk
  const aliases =
    firstAlias !== undefined && aliasCount > MOST_ALIASES
      ? [explosionFinding(firstAlias, limits)]
      : walk.aliases
  return { ...walk, value, aliases }
}

/** The value with expanded aliases. Undefined: the aliases expand to too many nodes. */
export function valueWithAliases(
  document: Document.Parsed,
  { aliases }: Limits,
): { readonly value: unknown } | undefined {
  try {
    return { value: document.toJS({ maxAliasCount: aliases }) as unknown }
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    return undefined
  }
}

function valueOf(node: unknown, walk: Walk): unknown {
  if (isAlias(node)) {
    checkAlias(node, walk)
    return null
  }
  if (isScalar(node)) {
    if (node.anchor !== undefined) walk.anchors.set(node.anchor, node)
    if (typeof node.value === 'number' && /^[-+]?0\d/.test(node.source ?? ''))
      walk.octals.push({ ...OCTAL, range: rangeOf(node) })
    return node.value
  }
  if (!isMap(node) && !isSeq(node)) return null
  if (node.anchor !== undefined) walk.anchors.set(node.anchor, node)
  walk.open.push(node)
  const value = isMap(node) ? objectOf(node.items, walk) : node.items.map((item) => valueOf(item, walk))
  walk.open.pop()
  return value
}

function checkAlias(alias: Alias, walk: Walk): void {
  const range = rangeOf(alias)
  walk.firstAlias ??= range
  walk.aliasCount += 1
  if (alias.source === '' || walk.aliasCount > MOST_ALIASES) return
  const target = walk.anchors.get(alias.source)
  if (target === undefined) walk.aliases.push({ ...UNKNOWN_ALIAS, range })
  else if (walk.open.includes(target)) walk.aliases.push({ ...CIRCULAR_ALIAS, range })
}

function objectOf(pairs: readonly Pair[], walk: Walk): unknown {
  const object: Record<string, unknown> = {}
  let firsts: ReadonlyMap<string, Pair> | undefined
  for (const pair of pairs) {
    const name = nameOf(pair)
    valueOf(pair.key, walk) // for its anchor
    const value = valueOf(pair.value, walk)
    if (Object.hasOwn(object, name)) {
      if (walk.repeated.length > walk.limit) continue
      firsts ??= new Map(pairs.toReversed().map((one) => [nameOf(one), one]))
      walk.repeated.push(duplicateFinding(name, rangeOf(pair.key), rangeOf(firsts.get(name)?.key)))
    }
    // Makes `__proto__` an ordinary field.
    else if (name === '__proto__') {
      Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
    } else object[name] = value
  }
  return object
}

function nameOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : ''
}

function rangeOf(node: unknown): Range {
  const [start, end] = (isScalar(node) || isAlias(node) ? node.range : undefined) ?? [0, 1]
  return { start, end }
}
