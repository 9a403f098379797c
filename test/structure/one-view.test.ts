import { globSync, readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'
import { expect, test } from 'vitest'

const PARTS = ['status', 'reason', 'message']

/** Not a view of a resource: a problem of many resources or of the whole. */
const OTHERS = ['src/server/problems.ts Card']

interface Node {
  readonly type: string
  readonly [field: string]: unknown
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isNode))
}

/** Members, the names that `Pick` takes, and all of what `Omit` leaves. `extends ResourceView` adds none. */
function namesOf(node: Node): readonly string[] {
  const { key, literal, typeName } = node
  const isRest = isNode(typeName) && typeName['name'] === 'Omit'
  if (isRest && JSON.stringify(node).includes('"name":"ResourceView"')) return PARTS
  const own = isNode(key) && node.type === 'TSPropertySignature' ? [key['name']] : []
  const picked = isNode(literal) && node.type === 'TSLiteralType' ? [literal['value']] : []
  return [...own, ...picked, ...childrenOf(node).flatMap(namesOf)].filter((name) => typeof name === 'string')
}

function declaredIn(node: Node): readonly Node[] {
  const isType = node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration'
  return isType ? [node] : childrenOf(node).flatMap(declaredIn)
}

test('no type has the status, the reason and the message of a resource: a view has facts', () => {
  const found = globSync('src/**/*.ts').flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    if (!text.includes('ResourceView') && !PARTS.every((part) => text.includes(part))) return []
    return declaredIn(parseAst(text, { lang: 'ts' }) as unknown as Node)
      .filter((declared) => new Set(namesOf(declared)).isSupersetOf(new Set(PARTS)))
      .map(({ id }) => `${file} ${isNode(id) ? String(id['name']) : ''}`)
  })
  expect(found).toEqual(OTHERS)
})
