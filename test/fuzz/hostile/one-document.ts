import { head } from '../../support/manifests.ts'
import { documents, pipe, service, wide, type Shape } from './text.ts'

/* Catalogs that are slow by what stands in one document, or one file. */

const PIPE = pipe('a', 'analytics')
const COLUMNS = `${PIPE}  destination:\n    columns:\n`
const UNSEEN = '\u200b'
const LABELS = 'apiVersion: pipewright/v1\nkind: Pipe\nmetadata:\n  name: a\n  labels:\n'
const LOCK = `${head('Lock', 'l')}spec:\n  pipes:\n`
const ROLES = `${head('QueryEndpoint', 'e')}spec:\n  service: s\n  roles:\n`
const ALERT = `${head('Alert', 'a')}spec:\n  id: a\n`

const source = (text: string) => `${head('Pipe', 'a')}spec:\n  service: analytics\n  source:\n${text}`
const TABLES = source('    postgres:\n      tableMappings:\n')

type Line = (n: number) => string

/** A beginning, and lines by their number for as long as there is room. */
const listOf =
  (begin: string, line: Line, end = ''): Shape =>
  (bytes) =>
    wide(bytes, () => begin, line, end)

/** Lines of several sorts, each below the same beginning. */
function listsOf<Name extends string>(begin: string, lines: Readonly<Record<Name, Line>>) {
  const shapes = Object.entries<Line>(lines).map(([name, line]) => [name, listOf(begin, line)])
  return Object.fromEntries(shapes) as Readonly<Record<Name, Shape>> // the same names
}

/** Columns, as many as there is room for up to a number, and mappings to others. */
const misnamed =
  (most: number, bytesOfOne: number, column: Line, mapped: Line): Shape =>
  (bytes) => {
    const names = Array.from({ length: Math.min(most, bytes / bytesOfOne) }, (_, n) => column(n))
    const begin = COLUMNS + names.map((name) => `    - {name: ${name}, type: String}\n`).join('')
    return listOf(
      `${begin}  fieldMappings:\n`,
      (n) => `  - {sourceField: f, destinationField: ${mapped(n)}}\n`,
    )(bytes)
  }

const LONG = 'a'.repeat(900)

export const ONE_DOCUMENT = {
  'columns, and mappings to others': misnamed(
    5_000,
    120,
    (n) => `column_number_${n}`,
    (n) => `colunm_numbre_${n}`,
  ),
  'columns with long names, unknown mappings': misnamed(
    500,
    3_000,
    (n) => `${LONG}${n}`,
    (n) => `${LONG}b${n}`,
  ),
  'columns without mappings': listOf(
    COLUMNS,
    (n) => `    - {name: c${n}, type: String}\n`,
    '  fieldMappings: []\n',
  ),
  ...listsOf(COLUMNS, {
    'one column': () => '    - {name: c, type: String}\n',
    'types with brackets': (n) => `    - {name: c${n}, type: "Decimal(10"}\n`,
    'unknown fields in a list': (n) => `    - {name: c${n}, type: T, typ: x, ${n}: y}\n`,
    'wrong types in a list': (n) => `    - {name: ${n}, type: [a]}\n`,
    'texts instead of items': (n) => `    - a${n}\n`,
  }),
  'one type with brackets': listOf(`${COLUMNS}    - {name: c, type: "`, () => '('.repeat(1_000), '"}\n'),
  'one mapping, again and again': listOf(
    `${COLUMNS}    - {name: c, type: T}\n  fieldMappings:\n`,
    () => '  - {sourceField: f, destinationField: c}\n',
  ),
  ...listsOf(PIPE, {
    'unknown fields at the top': (n) => `nmae${n}: 1\n`,
    'unknown fields that are long': (n) => `${'destinaton'.repeat(18)}${n}: 1\n`,
    'long words like keys': (n) => `x${n}: ${'aB3'.repeat(20)}\n`,
    'a field again and again': () => 'x: 1\n',
    'fields, each twice': (n) => `x${n >> 1}: 1\n`,
    'merge keys': (n) => `x${n}: {<<: {a: 1}}\n`,
    'no YAML: brackets': () => '}',
    'no YAML: lines': () => 'no mapping\n',
    'no YAML: tabs': () => '\tx: 1\n',
    'no YAML: quotes': () => 'x: "a" b\n',
    'no YAML: tags': (n) => `x${n}: !vault a\n`,
    spaces: () => `x: ${' '.repeat(5_000)}y\n`,
    'at signs': (n) => `x${n}: ${'a:b@'.repeat(1_000)}\n`,
    addresses: (n) => `x${n}: "${'http://a?key=b&'.repeat(250)}"\n`,
  }),
  'no YAML: escapes': listOf(`${PIPE}x: "`, () => '\\q', '"\n'),
  'unknown fields in many documents': (bytes) =>
    documents(bytes, (n) => `kind: Pipe\nmetadata: {nmae: a${n}}\nspce: {}\n`),
  'documents with nothing in them': (bytes) => documents(bytes, () => 'kind: Pipe\n'),
  'documents of other kinds': (bytes) => documents(bytes, (n) => `kind: Pip${n}\n`),
  'documents that are no mapping': (bytes) => documents(bytes, () => 'a\n'),
  'secrets written out': listOf(
    source('    postgres:\n      credentials:\n'),
    (n) => `        password${n}: hunter${n}\n`,
  ),
  ...listsOf(LABELS, {
    labels: (n) => `    l${n}: v\n`,
    'labels of wrong types': (n) => `    l${n}: ${n}\n`,
    'labels that are too long': (n) => `    ${'l'.repeat(64)}${n}: v\n`,
  }),
  ...listsOf(LOCK, {
    'a Lock with one key': () => '    Pipe/a: 00000001-0000-4000-8000-000000000000\n',
    'a Lock with wrong ids': (n) => `    Pipe/a${n}: ${n}-no-id\n`,
    'a Lock with wrong keys': (n) => `    Pip/a${n}: 00000001-0000-4000-8000-000000000000\n`,
    'a Lock of nothing': (n) => `    Pipe/a${n}:\n`,
  }),
  ...listsOf(ROLES, {
    'roles, one again and again': () => '  - r\n',
    'roles that are none': (n) => `  - sql_console_raed_${n}\n`,
  }),
  'origins that are none': listOf(
    `${head('QueryEndpoint', 'e')}spec:\n  service: s\n  allowedOrigins: "`,
    () => 'http://a b,',
    '"\n',
  ),
  brokers: listOf(source('    kafka:\n      brokers: "'), () => 'b-1,', '"\n'),
  ...listsOf(TABLES, {
    tables: (n) => `      - {sourceTable: t${n}, excludedColumn: [x]}\n`,
    'references in quotes': () => '      - "{secretRef: {name: a, key: b}}"\n',
  }),
  'dependencies on itself': listOf(`${head('Pipe', 'a')}policy:\n  dependsOn:\n`, () => '  - Pipe/a\n'),
  'what an alert expects': listOf(`${ALERT}  expect:\n`, (n) => `    f${n}: x\n`),
  ...listsOf(`${ALERT}  x:\n`, {
    'unseen characters': (n) => `  - a${UNSEEN}${n}\n`,
    'letters that look alike': (n) => `  - p\u0430ss${n}\n`,
    placeholders: (n) => `  - \${NAME${n}}\n`,
    templates: (n) => `  - "{{ .a${n} }}"\n`,
    'template marks that nothing closes': () => `  - "{{ {% {# <% $({"\n`,
    'comments of another language': () => '  - a // b\n',
    'items that are deeper': () => '  - a\n    - b\n',
    'anchors, and aliases to none': (n) => `  - *a${n}\n`,
  }),
  'unseen characters in one line': listOf(`${ALERT}  x: [`, () => `a${UNSEEN}, `, ']\n'),
  aliases: (bytes) =>
    documents(bytes, () => `${head('Alert', 'a')}spec:\n  id: &a x\n  x: [${'*a, '.repeat(900)}]\n`),
  'a line of flow mappings': listOf(
    `${head('Alert', 'a')}spec: {id: a, x: [`,
    () => '{password: x, a: b}, ',
    ']}\n',
  ),
  'no YAML, in many documents': (bytes) =>
    documents(bytes, (n) => `${head('Pipe', `p${n}`)}spec:\n   service: a\n  source: {}\n`),
  'no YAML, in many small documents': (bytes) => documents(bytes, () => 'a: b: c\n'),
  'no YAML, in large documents': (bytes) =>
    documents(bytes, (n) => `${head('Pipe', `p${n}`)}x: [${'a, '.repeat(10_000)}\ny: 1\n`),
  directives: (bytes) => documents(bytes, () => '%YAML 1.1\n'),
  'a word': listOf('kind: ', () => 'a'.repeat(10_000)),
  'a folded text': listOf(`${ALERT}  x: a\n`, () => '    b\n'),
  'documents without a mark between them': listOf(service('s'), (n) => pipe(`p${n}`, 's')),
} as const satisfies Readonly<Record<string, Shape>>
