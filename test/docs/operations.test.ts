import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { SETTINGS } from '../../src/config/settings.ts'
import { REASONS } from '../../src/plan/reason.ts'
import { ROOT } from '../support/process.ts'

const PAGES = ['docs/operations.md', 'SECURITY.md', 'helm/README.md'] as const

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

test('pages link to files that are there', () => {
  for (const page of PAGES) {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = '']) => link)
    expect.soft(links.length, page).toBeGreaterThan(1)
    expect
      .soft(
        links.filter((link) => !existsSync(join(ROOT, page, '..', link))),
        page,
      )
      .toEqual([])
  }
})

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

test('docs/operations.md and SECURITY.md name values that the chart has', () => {
  const schema = JSON.parse(read('helm/values.schema.json')) as Schema
  const top = Object.keys(Node.parse(schema).properties ?? {}).join('|')
  const named = [read('docs/operations.md'), read('SECURITY.md')].flatMap((text) =>
    [...text.matchAll(new RegExp(`(?:\`|--set )((?:${top})(?:\\.[a-zA-Z-]+)+)`, 'g'))].map(
      ([, path = '']) => path,
    ),
  )
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter((path) => !isValue(path.split('.'), schema))).toEqual([])
})

test('its example of values is whole, and each setting in it is one', () => {
  const page = read('docs/operations.md')
  const [, values = ''] = /```yaml\n# values\.yaml\n([\s\S]*?)```/.exec(page) ?? []
  const schema: unknown = JSON.parse(read('helm/values.schema.json'))
  const [document] = parseAllDocuments(values)
  const paths = pathsOf(document?.toJS())
  expect(paths.length).toBeGreaterThan(5)
  expect(paths.filter((path) => !isValue(path, schema))).toEqual([])
  const settings = [...page.matchAll(/`settings\.([a-z-]+)`|settings: \{([a-z-]+):/g)].map(
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

test('the reasons in its tables are reasons', () => {
  const rows = read('docs/operations.md').matchAll(/^\| `([A-Z][A-Za-z]+)` +\|/gm)
  const reasons = [...rows].map(([, reason = '']) => reason)
  expect(reasons.length).toBeGreaterThan(2)
  expect(reasons.filter((reason) => !(reason in REASONS) && reason !== 'SourceUnreadable')).toEqual([])
})
