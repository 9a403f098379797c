import { parseAst } from 'rolldown/parseAst'

/** One small mistake in a source text. */
export interface Mutation {
  readonly start: number
  readonly end: number
  readonly to: string
  readonly what: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

const BOUNDARIES: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const OPPOSITES: Readonly<Record<string, string>> = { '===': '!==', '!==': '===', '&&': '||', '||': '&&' }

/** All mistakes that can be made in a TypeScript text: conditions, boundaries, statements, awaits and constants. */
export function mutationsOf(text: string): readonly Mutation[] {
  const found: Mutation[] = []
  visit(parseAst(text, { lang: 'ts' }) as unknown as Node) // its types name each node, and this looks at few
  return found

  function visit(node: Node): void {
    if (node.type.startsWith('TS') || node.type.startsWith('Import')) return
    found.push(...mutationsAt(node, text))
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child)
  }
}

function mutationsAt(node: Node, text: string): readonly Mutation[] {
  const { type, start, end } = node
  const source = ({ start: from, end: to }: Node) => text.slice(from, to)
  switch (type) {
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement': {
      const test = node['test'] as Node
      return [{ start: test.start, end: test.end, to: `!(${source(test)})`, what: 'condition negated' }]
    }
    case 'BinaryExpression':
    case 'LogicalExpression':
      return operatorAt(node, text)
    case 'AwaitExpression':
      return [{ start, end, to: `(${source(node['argument'] as Node)})`, what: 'await dropped' }]
    case 'ExpressionStatement':
      return [{ start, end, to: ';', what: 'statement dropped' }]
    case 'Literal':
      return typeof node['value'] === 'number' && node['value'] > 1
        ? [{ start, end, to: `(${source(node)} * 1000)`, what: 'constant times 1000' }]
        : []
    default:
      return []
  }
}

function operatorAt(node: Node, text: string): readonly Mutation[] {
  const operator = String(node['operator'])
  const to = BOUNDARIES[operator] ?? OPPOSITES[operator]
  if (to === undefined) return []
  const [left, right] = [node['left'] as Node, node['right'] as Node]
  const start = text.indexOf(operator, left.end)
  if (start === -1 || start >= right.start) return []
  return [{ start, end: start + operator.length, to, what: `${operator} became ${to}` }]
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}
