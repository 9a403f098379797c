import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { SETTINGS } from '../../src/config/settings.ts'
import { REASONS } from '../../src/plan/reason.ts'
import { read, ROOT } from '../support/process.ts'

/* Pages name values, settings and reasons that there are. */

const GUIDES = readdirSync(join(ROOT, 'docs/how-to')).map((name) => read(`docs/how-to/${name}`))
const TUTORIAL = read('docs/tutorials/kubernetes.md')
const ALL = [TUTORIAL, read('docs/explanation/security.md'), ...GUIDES].join('\n')

type Schema = Readonly<Record<string, unknown>>

const Node = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  const: z.unknown().optional(),
})

/** Whether the chart has a value of that dotted path. A value that moved has words in place of a value. */
function isValue(path: readonly string[], schema: unknown): boolean {
  const [name, ...below] = path
  const { properties, const: words } = Node.parse(schema)
  if (typeof words === 'string') return false
  if (name === undefined || properties === undefined) return true
  return name in properties && isValue(below, properties[name])
}

test('pages name values that the chart has', () => {
  const schema = JSON.parse(read('helm/values.schema.json')) as Schema
  const top = Object.keys(Node.parse(schema).properties ?? {}).join('|')
  const pattern = new RegExp(`(?:\`|--set )((?:${top})(?:\\.[a-zA-Z-]+)+)`, 'g')
  const named = [...ALL.matchAll(pattern)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter((path) => !isValue(path.split('.'), schema))).toEqual([])
})

test('the values of the tutorial are whole, and each setting is one', () => {
  const [, values = ''] = /```yaml\n# values\.yaml\n([\s\S]*?)```/.exec(TUTORIAL) ?? []
  const schema: unknown = JSON.parse(read('helm/values.schema.json'))
  const [document] = parseAllDocuments(values)
  const paths = pathsOf(document?.toJS())
  expect(paths.length).toBeGreaterThan(5)
  expect(paths.filter((path) => !isValue(path, schema))).toEqual([])
  const settings = [...ALL.matchAll(/`settings\.([a-z-]+)`|settings: \{([a-z-]+):/g)].map(
    ([, a, b]) => a ?? b,
  )
  const flags = SETTINGS.map(({ flag }) => flag)
  expect(settings.length).toBeGreaterThan(2)
  expect(settings.filter((name) => name === undefined || !flags.includes(name))).toEqual([])
})

function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path]
  return Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))
}

test('the reasons in the tutorial are reasons', () => {
  const rows = TUTORIAL.matchAll(/^\| `([A-Z][A-Za-z]+)` +\|/gm)
  const reasons = [...rows].map(([, reason = '']) => reason)
  expect(reasons.length).toBeGreaterThan(2)
  expect(reasons.filter((reason) => !(reason in REASONS) && reason !== 'SourceUnreadable')).toEqual([])
})
