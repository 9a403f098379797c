import { parseAst } from 'rolldown/parseAst'

export interface Mutation {
  readonly start: number
  readonly end: number
  readonly to: string
  readonly what: string
  /** It is evaluated while its module loads, at most. */
  readonly isAtLoad: boolean
  /** The whole expression or statement. */
  readonly within: { readonly start: number; readonly end: number; readonly isStatement: boolean }
}

type Found = Omit<Mutation, 'isAtLoad'>

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

const BOUNDARIES: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const OPPOSITES: Readonly<Record<string, string>> = { '===': '!==', '!==': '===', '&&': '||', '||': '&&' }
/** Types around a value. All other nodes of types have no value in them. */
const TYPED_VALUES = ['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']
const RUN_LATER = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'PropertyDefinition',
])
/** A failpoint: only tests use it. */
const FAILPOINT = /^await (?:\w+\.)?fail\?\.\(/

/** All mistakes that can be made in a TypeScript text: conditions, boundaries, statements, awaits and constants. */
export function mutationsOf(text: string): readonly Mutation[] {
  const found: Mutation[] = []
  visit(parseAst(text, { lang: 'ts' }) as unknown as Node, true) // its types name each node, and this looks at few
  return found

  function visit(node: Node, isAtLoad: boolean, parent?: Node): void {
    if (node.type.startsWith('Import')) return
    if (node.type.startsWith('TS') && !TYPED_VALUES.includes(node.type)) return
    found.push(...mutationsAt(node, parent, text).map((mutation) => ({ ...mutation, isAtLoad })))
    const isInside = isAtLoad && !RUN_LATER.has(node.type)
    for (const [field, value] of Object.entries(node)) {
      if (field === 'key' && node['computed'] !== true) continue
      for (const child of Array.isArray(value) ? value : [value])
        if (isNode(child)) visit(child, isInside, node)
    }
  }
}

/** The text with all of these mistakes in it, by their numbers. Each is made while `mutantAt` says yes to its number. */
export function withSwitches(text: string, mutations: ReadonlyMap<number, Mutation>): string {
  const beginsStatement = statementsOf(text)
  const numbered = [...mutations].map(([id, mutation]) => ({ ...mutation, id }))
  // Outer places come before those in them.
  const ordered = numbered.toSorted((a, b) => a.within.start - b.within.start || b.within.end - a.within.end)
  return switched(0, text.length, ordered)

  function switched(from: number, to: number, inside: typeof ordered): string {
    const parts: string[] = []
    let place = from
    for (let rest = inside; rest[0] !== undefined;) {
      const [outer, ...others] = rest
      const { start, end, isStatement } = outer.within
      const inner = others.filter(({ within }) => within.end <= end)
      rest = others.slice(inner.length)
      const right = switched(start, end, inner)
      const wrong = text.slice(start, outer.start) + outer.to + text.slice(outer.end, end)
      const isAsked = `globalThis.mutantAt?.(${outer.id})`
      parts.push(text.slice(place, start))
      // Statements do not begin with a bracket: it would make a call of the line before.
      const made = isStatement ? `(${isAsked} || (${right}))` : `(${isAsked} ? (${wrong}) : (${right}))`
      parts.push(beginsStatement.has(start) ? `void 0, ${made}` : made)
      place = end
    }
    return parts.join('') + text.slice(place, to)
  }
}

/** Where they begin. */
function statementsOf(text: string): ReadonlySet<number> {
  const found = new Set<number>()
  const visit = (node: Node): void => {
    if (node.type === 'ExpressionStatement') found.add(node.start)
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child)
  }
  visit(parseAst(text, { lang: 'ts' }) as unknown as Node) // as above
  return found
}

function mutationsAt(node: Node, parent: Node | undefined, text: string): readonly Found[] {
  const { type, start, end } = node
  const source = ({ start: from, end: to }: Node) => text.slice(from, to)
  const within = { start, end, isStatement: false }
  if (FAILPOINT.test(source(node))) return []
  switch (type) {
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement': {
      const test = node['test'] as Node
      const place = { start: test.start, end: test.end }
      const to = `!(${source(test)})`
      return [{ ...place, to, what: 'condition negated', within: { ...place, isStatement: false } }]
    }
    case 'BinaryExpression':
    case 'LogicalExpression':
      return isComparator(parent, text) ? [] : operatorAt(node, text)
    case 'AwaitExpression': {
      const value = source(node['argument'] as Node)
      // As a statement not in brackets: these would make a call of the line before.
      const to = parent?.type === 'ExpressionStatement' ? `void ${value}` : `(${value})`
      return [{ start, end, to, what: 'await dropped', within }]
    }
    case 'ExpressionStatement':
      return [{ start, end, to: ';', what: 'statement dropped', within: statementOf(node) }]
    case 'Literal':
      return typeof node['value'] === 'number' && node['value'] > 1
        ? [{ start, end, to: `(${source(node)} * 1000)`, what: 'constant times 1000', within }]
        : []
    default:
      return []
  }
}

/** As in `a < b ? -1 : 1`: what is sorted is never equal. */
function isComparator(parent: Node | undefined, text: string): boolean {
  return parent?.type === 'ConditionalExpression' && text.slice(parent.start, parent.end).endsWith('? -1 : 1')
}

/** Without a semicolon at its end. */
function statementOf(node: Node) {
  const { start, end } = node['expression'] as Node
  return { start, end, isStatement: true }
}

function operatorAt(node: Node, text: string): readonly Found[] {
  const operator = String(node['operator'])
  const to = BOUNDARIES[operator] ?? OPPOSITES[operator]
  if (to === undefined) return []
  const [left, right] = [node['left'] as Node, node['right'] as Node]
  const start = text.indexOf(operator, left.end)
  if (start === -1 || start >= right.start) return []
  const within = { start: node.start, end: node.end, isStatement: false }
  return [{ start, end: start + operator.length, to, what: `${operator} became ${to}`, within }]
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}
