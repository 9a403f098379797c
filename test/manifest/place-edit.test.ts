import { parse } from 'yaml'
import { describe, expect, test } from 'vitest'
import type { FieldEdit, PlacedEdit } from '../../src/kinds/field-edit.ts'
import { placeEdit } from '../../src/manifest/yaml/place-edit.ts'

const RETRY = { path: ['policy', 'retryCreate'], value: 'ID' }
const REPLICAS = { path: ['spec', 'scaling', 'replicas'], value: '3' }

const AT = { key: 'Pipe/orders', line: 1 } as const

const PIPE = `kind: Pipe
metadata: {name: orders}
policy:
  # not before spring
  onMissing: report
spec:
  service: analytics
  scaling:
    replicas: 2
`

const ROWS: readonly (readonly [what: string, text: string, edit: FieldEdit, placed: PlacedEdit])[] = [
  [
    'a field that is set is changed',
    PIPE,
    REPLICAS,
    { how: 'change', line: 9, from: 'replicas: 2', text: 'replicas: 3' },
  ],
  [
    'one that is not goes to its siblings: never a second policy',
    PIPE,
    RETRY,
    { how: 'below', line: 3, parent: 'policy', text: '  retryCreate: ID' },
  ],
  [
    'without a policy: above spec',
    PIPE.replace(/policy:\n.*\n.*\n/, ''),
    RETRY,
    { how: 'above', line: 3, next: 'spec', text: 'policy: {retryCreate: ID}' },
  ],
  [
    'a policy with nothing in it is the one to fill',
    PIPE.replace(/policy:\n.*\n.*\n/, 'policy:\n'),
    RETRY,
    { how: 'below', line: 3, parent: 'policy', text: '  retryCreate: ID' },
  ],
  [
    'a policy in braces gets the field within them',
    PIPE.replace(/policy:\n.*\n.*\n/, 'policy: {onMissing: report}\n'),
    RETRY,
    {
      how: 'change',
      line: 3,
      from: 'policy: {onMissing: report}',
      text: 'policy: {onMissing: report, retryCreate: ID}',
    },
  ],
  [
    'also in empty ones',
    PIPE.replace(/policy:\n.*\n.*\n/, 'policy: {}\n'),
    RETRY,
    { how: 'change', line: 3, from: 'policy: {}', text: 'policy: {retryCreate: ID}' },
  ],
  [
    'what is missing in between is written too',
    PIPE.replace(/ {2}scaling:\n.*\n/, ''),
    REPLICAS,
    { how: 'below', line: 6, parent: 'spec', text: '  scaling: {replicas: 3}' },
  ],
  [
    'with four blanks where there are four',
    PIPE.replaceAll(/^ +/gm, (blanks) => blanks + blanks),
    RETRY,
    { how: 'below', line: 3, parent: 'policy', text: '    retryCreate: ID' },
  ],
  [
    'also below a policy with nothing in it',
    PIPE.replace(/policy:\n.*\n.*\n/, 'policy:\n').replaceAll(/^ +/gm, (blanks) => blanks + blanks),
    RETRY,
    { how: 'below', line: 3, parent: 'policy', text: '    retryCreate: ID' },
  ],
  [
    'braces over several lines get a line',
    PIPE.replace(/policy:\n.*\n.*\n/, 'policy: {\n  onMissing: report\n}\n'),
    RETRY,
    { how: 'below', line: 3, parent: 'policy', text: '  retryCreate: ID,' },
  ],
  [
    'a manifest in braces gets a policy within them',
    '{kind: Pipe, metadata: {name: orders}, spec: {service: analytics}}\n',
    RETRY,
    { how: 'change', line: 1, from: 'spec:', text: 'policy: {retryCreate: ID}, spec:' },
  ],
  [
    'a text in quotes stays one',
    PIPE.replace('replicas: 2', 'replicas: "2" # two'),
    REPLICAS,
    { how: 'change', line: 9, from: 'replicas: "2"', text: 'replicas: "3"' },
  ],
  [
    'in braces the value alone is changed',
    PIPE.replace(/ {2}scaling:\n.*\n/, '  scaling: {replicas: 2, cpu: 1}\n'),
    REPLICAS,
    { how: 'change', line: 8, from: 'replicas: 2', text: 'replicas: 3' },
  ],
]

/** Does what a person is told to do. */
function carriedOut(text: string, placed: PlacedEdit): string {
  const lines = text.split('\n')
  const at = placed.line - 1
  const line = lines[at] ?? ''
  if (placed.how === 'change') lines[at] = line.replace(placed.from, () => placed.text)
  else if (placed.how === 'above') lines.splice(at, 0, placed.text)
  else {
    if (!line.startsWith(`${placed.parent}:`)) throw new Error(`not in line ${placed.line}: ${line}`)
    lines.splice(placed.line, 0, placed.text)
  }
  return lines.join('\n')
}

function valueAt(document: unknown, path: readonly string[]): unknown {
  return path.reduce((value, name) => (value as Record<string, unknown>)[name], document)
}

describe('where an edit goes', () => {
  test.each(ROWS)('%s', (_what, text, edit, placed) => {
    expect(placeEdit(text, AT, edit)).toEqual(placed)
    const after: unknown = parse(carriedOut(text, placed))
    expect(String(valueAt(after, edit.path))).toBe(edit.value)
  })

  test('it is the document at that line, of several in a file, whatever its name', () => {
    const two = `# first\n${PIPE}---\n# second\n${PIPE}`
    expect(placeEdit(two, { ...AT, line: 13 }, RETRY)).toMatchObject({ line: 15, how: 'below' })
    expect(placeEdit(two, { ...AT, line: 2 }, RETRY)).toMatchObject({ line: 4, how: 'below' })
  })

  test.each([
    ['a file that ends before', PIPE, 40],
    ['a line where another manifest stands by now', PIPE.replace('orders', 'others'), 1],
    ['broken YAML', PIPE.replace('{name: orders}', '{name: orders'), 1],
    ['a list where fields belong', PIPE.replace(/policy:\n.*\n.*\n/, 'policy: [a]\n'), 1],
    [
      'braces over several lines, the first field beside them',
      PIPE.replace(/policy:\n.*\n.*\n/, 'policy: {onMissing: report,\n  interval: 1s}\n'),
      1,
    ],
    ['an alias', PIPE.replace(/policy:\n.*\n.*\n/, 'policy: *other\n'), 1],
  ])('nothing is said of %s', (_what, text, line) => {
    expect(placeEdit(text, { ...AT, line }, RETRY)).toBeUndefined()
  })
})
