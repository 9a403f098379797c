import { documents, head, pipe, service, wide, type Shape } from './text.ts'

/* Catalogs that are slow by what stands in one document, or one file. */

const destination = `${pipe('a', 'analytics')}  destination:\n    columns:\n`
const UNSEEN = '\u200b'

const listOf =
  (begin: string, line: (n: number) => string): Shape =>
  (bytes) =>
    wide(bytes, () => begin, line)

const source = (text: string) => `${head('Pipe', 'a')}spec:\n  service: analytics\n  source:\n${text}`

export const ONE_DOCUMENT = {
  'columns, and mappings to others': (bytes) =>
    wide(
      bytes,
      () =>
        `${destination}${Array.from({ length: Math.min(5_000, bytes / 120) }, (_, n) => `    - {name: column_number_${n}, type: String}\n`).join('')}  fieldMappings:\n`,
      (n) => `  - {sourceField: f, destinationField: colunm_numbre_${n}}\n`,
    ),
  'columns without mappings': (bytes) =>
    wide(
      bytes,
      () => destination,
      (n) => `    - {name: c${n}, type: String}\n`,
      '  fieldMappings: []\n',
    ),
  'one column': listOf(destination, () => '    - {name: c, type: String}\n'),
  'columns with long names, unknown mappings': (bytes) =>
    wide(
      bytes,
      () =>
        `${destination}${Array.from({ length: Math.min(500, bytes / 3_000) }, (_, n) => `    - {name: ${'a'.repeat(900)}${n}, type: String}\n`).join('')}  fieldMappings:\n`,
      (n) => `  - {sourceField: f, destinationField: ${'a'.repeat(900)}b${n}}\n`,
    ),
  'types with brackets': listOf(destination, (n) => `    - {name: c${n}, type: "Decimal(10"}\n`),
  'one type with brackets': (bytes) =>
    wide(
      bytes,
      () => `${destination}    - {name: c, type: "`,
      () => '('.repeat(1_000),
      '"}\n',
    ),
  'one mapping, again and again': listOf(
    `${destination}    - {name: c, type: T}\n  fieldMappings:\n`,
    () => '  - {sourceField: f, destinationField: c}\n',
  ),
  'unknown fields at the top': listOf(pipe('a', 'analytics'), (n) => `nmae${n}: 1\n`),
  'unknown fields in a list': listOf(destination, (n) => `    - {name: c${n}, type: T, typ: x, ${n}: y}\n`),
  'unknown fields that are long': listOf(
    pipe('a', 'analytics'),
    (n) => `${'destinaton'.repeat(18)}${n}: 1\n`,
  ),
  'unknown fields in many documents': (bytes) =>
    documents(bytes, (n) => `kind: Pipe\nmetadata: {nmae: a${n}}\nspce: {}\n`),
  'documents with nothing in them': (bytes) => documents(bytes, () => 'kind: Pipe\n'),
  'documents of other kinds': (bytes) => documents(bytes, (n) => `kind: Pip${n}\n`),
  'documents that are no mapping': (bytes) => documents(bytes, () => 'a\n'),
  'wrong types in a list': listOf(destination, (n) => `    - {name: ${n}, type: [a]}\n`),
  'texts instead of items': listOf(destination, (n) => `    - a${n}\n`),
  'secrets written out': listOf(
    source('    postgres:\n      credentials:\n'),
    (n) => `        password${n}: hunter${n}\n`,
  ),
  'long words like keys': listOf(pipe('a', 'analytics'), (n) => `x${n}: ${'aB3'.repeat(20)}\n`),
  labels: listOf(
    'apiVersion: pipewright/v1\nkind: Pipe\nmetadata:\n  name: a\n  labels:\n',
    (n) => `    l${n}: v\n`,
  ),
  'labels of wrong types': listOf(
    'apiVersion: pipewright/v1\nkind: Pipe\nmetadata:\n  name: a\n  labels:\n',
    (n) => `    l${n}: ${n}\n`,
  ),
  'labels that are too long': listOf(
    'apiVersion: pipewright/v1\nkind: Pipe\nmetadata:\n  name: a\n  labels:\n',
    (n) => `    ${'l'.repeat(64)}${n}: v\n`,
  ),
  'a field again and again': listOf(pipe('a', 'analytics'), () => 'x: 1\n'),
  'fields, each twice': listOf(pipe('a', 'analytics'), (n) => `x${n >> 1}: 1\n`),
  'a Lock with one key': listOf(
    `${head('Lock', 'l')}spec:\n  pipes:\n`,
    () => '    Pipe/a: 00000001-0000-4000-8000-000000000000\n',
  ),
  'a Lock with wrong ids': listOf(
    `${head('Lock', 'l')}spec:\n  pipes:\n`,
    (n) => `    Pipe/a${n}: ${n}-no-id\n`,
  ),
  'a Lock with wrong keys': listOf(
    `${head('Lock', 'l')}spec:\n  pipes:\n`,
    (n) => `    Pip/a${n}: 00000001-0000-4000-8000-000000000000\n`,
  ),
  'a Lock of nothing': listOf(`${head('Lock', 'l')}spec:\n  pipes:\n`, (n) => `    Pipe/a${n}:\n`),
  'roles, one again and again': listOf(
    `${head('QueryEndpoint', 'e')}spec:\n  service: s\n  roles:\n`,
    () => '  - r\n',
  ),
  'roles that are none': listOf(
    `${head('QueryEndpoint', 'e')}spec:\n  service: s\n  roles:\n`,
    (n) => `  - sql_console_raed_${n}\n`,
  ),
  'origins that are none': (bytes) =>
    wide(
      bytes,
      () => `${head('QueryEndpoint', 'e')}spec:\n  service: s\n  allowedOrigins: "`,
      () => 'http://a b,',
      '"\n',
    ),
  brokers: (bytes) =>
    wide(
      bytes,
      () => source('    kafka:\n      brokers: "'),
      () => 'b-1,',
      '"\n',
    ),
  tables: listOf(
    source('    postgres:\n      tableMappings:\n'),
    (n) => `      - {sourceTable: t${n}, excludedColumn: [x]}\n`,
  ),
  'dependencies on itself': listOf(`${head('Pipe', 'a')}policy:\n  dependsOn:\n`, () => '  - Pipe/a\n'),
  'what an alert expects': listOf(
    `${head('Alert', 'a')}spec:\n  id: a\n  expect:\n`,
    (n) => `    f${n}: x\n`,
  ),
  'unseen characters': listOf(`${head('Alert', 'a')}spec:\n  id: a\n  x:\n`, (n) => `  - a${UNSEEN}${n}\n`),
  'unseen characters in one line': (bytes) =>
    wide(
      bytes,
      () => `${head('Alert', 'a')}spec:\n  id: a\n  x: [`,
      () => `a${UNSEEN}, `,
      ']\n',
    ),
  'letters that look alike': listOf(
    `${head('Alert', 'a')}spec:\n  id: a\n  x:\n`,
    (n) => `  - p\u0430ss${n}\n`,
  ),
  placeholders: listOf(`${head('Alert', 'a')}spec:\n  id: a\n  x:\n`, (n) => `  - \${NAME${n}}\n`),
  templates: listOf(`${head('Alert', 'a')}spec:\n  id: a\n  x:\n`, (n) => `  - "{{ .a${n} }}"\n`),
  'template marks that nothing closes': listOf(
    `${head('Alert', 'a')}spec:\n  id: a\n  x:\n`,
    () => `  - "{{ {% {# <% $({"\n`,
  ),
  'comments of another language': listOf(`${head('Alert', 'a')}spec:\n  id: a\n  x:\n`, () => '  - a // b\n'),
  'items that are deeper': listOf(`${head('Alert', 'a')}spec:\n  id: a\n  x:\n`, () => '  - a\n    - b\n'),
  'merge keys': listOf(pipe('a', 'analytics'), (n) => `x${n}: {<<: {a: 1}}\n`),
  aliases: (bytes) =>
    documents(bytes, () => `${head('Alert', 'a')}spec:\n  id: &a x\n  x: [${'*a, '.repeat(900)}]\n`),
  'anchors, and aliases to none': listOf(
    `${head('Alert', 'a')}spec:\n  id: a\n  x:\n`,
    (n) => `  - *a${n}\n`,
  ),
  'a line of flow mappings': (bytes) =>
    wide(
      bytes,
      () => `${head('Alert', 'a')}spec: {id: a, x: [`,
      () => '{password: x, a: b}, ',
      ']}\n',
    ),
  'no YAML: brackets': (bytes) =>
    wide(
      bytes,
      () => pipe('a', 'analytics'),
      () => '}',
    ),
  'no YAML: lines': listOf(pipe('a', 'analytics'), () => 'no mapping\n'),
  'no YAML: tabs': listOf(pipe('a', 'analytics'), () => '\tx: 1\n'),
  'no YAML: quotes': listOf(pipe('a', 'analytics'), () => 'x: "a" b\n'),
  'no YAML: tags': listOf(pipe('a', 'analytics'), (n) => `x${n}: !vault a\n`),
  'no YAML: escapes': (bytes) =>
    wide(
      bytes,
      () => `${pipe('a', 'analytics')}x: "`,
      () => '\\q',
      '"\n',
    ),
  'no YAML, in many documents': (bytes) =>
    documents(bytes, (n) => `${head('Pipe', `p${n}`)}spec:\n   service: a\n  source: {}\n`),
  'no YAML, in many small documents': (bytes) => documents(bytes, () => 'a: b: c\n'),
  'no YAML, in large documents': (bytes) =>
    documents(bytes, (n) => `${head('Pipe', `p${n}`)}x: [${'a, '.repeat(10_000)}\ny: 1\n`),
  directives: (bytes) => documents(bytes, () => '%YAML 1.1\n'),
  spaces: (bytes) =>
    wide(
      bytes,
      () => pipe('a', 'analytics'),
      () => `x: ${' '.repeat(5_000)}y\n`,
    ),
  'at signs': (bytes) =>
    wide(
      bytes,
      () => pipe('a', 'analytics'),
      (n) => `x${n}: ${'a:b@'.repeat(1_000)}\n`,
    ),
  addresses: (bytes) =>
    wide(
      bytes,
      () => pipe('a', 'analytics'),
      (n) => `x${n}: "${'http://a?key=b&'.repeat(250)}"\n`,
    ),
  'a word': (bytes) =>
    wide(
      bytes,
      () => 'kind: ',
      () => 'a'.repeat(10_000),
    ),
  'a folded text': listOf(`${head('Alert', 'a')}spec:\n  id: a\n  x: a\n`, () => '    b\n'),
  'documents without a mark between them': (bytes) =>
    wide(
      bytes,
      () => service('s'),
      (n) => pipe(`p${n}`, 's'),
    ),
  'references in quotes': listOf(
    source('    postgres:\n      tableMappings:\n'),
    () => '      - "{secretRef: {name: a, key: b}}"\n',
  ),
} as const satisfies Readonly<Record<string, Shape>>
