import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

const CORE = ['lib', 'kinds', 'plan', 'contract']
const ENGINE = ['manifest', 'reconcile']
const ADAPTERS = ['platform', 'ledger', 'telemetry', 'server', 'notify', 'sandbox', 'config']

/** The folders that each folder can import, besides itself. No adapter knows the engine or another adapter. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  // core: pure
  lib: [],
  kinds: ['lib'],
  plan: ['kinds', 'lib'],
  contract: ['plan', 'kinds', 'lib'],
  // engine
  manifest: CORE,
  reconcile: CORE,
  // adapters
  ...Object.fromEntries(ADAPTERS.map((adapter) => [adapter, CORE])),
  // app
  daemon: [...ENGINE, ...CORE],
  cli: ['daemon', ...ADAPTERS, ...ENGINE, ...CORE],
  'main.ts': ['cli', 'daemon'],
  // the rooms of the engine: each names those that it may import; what stands beside them may import all
  'manifest/diagnostics': [],
  'manifest/yaml': ['manifest/diagnostics'],
  'manifest/validate': ['manifest/yaml', 'manifest/diagnostics'],
  'manifest/files': ['manifest/validate', 'manifest/yaml', 'manifest/diagnostics'],
  'manifest/rules': ['manifest/validate', 'manifest/yaml', 'manifest/diagnostics'],
  'manifest/catalog': ['manifest/rules', 'manifest/files', 'manifest/validate', 'manifest/diagnostics'],
  'reconcile/state': ['reconcile/context.ts'],
  'reconcile/gather': ['reconcile/state', 'reconcile/context.ts'],
  'reconcile/apply': ['reconcile/gather', 'reconcile/state', 'reconcile/context.ts'],
  'reconcile/dry-run': ['reconcile/gather', 'reconcile/state', 'reconcile/context.ts'],
  'reconcile/operator': ['reconcile/apply', 'reconcile/gather', 'reconcile/state', 'reconcile/context.ts'],
}

/** Where a file may have the name of another: each kind has a folder with files of the same names. */
const SAME_NAMES = /^kinds\/[^/]+\//

/** Packages that a layer may use; layers that are not here may use any that the project has. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  lib: ['node:crypto', 'node:net', 'node:path', 'node:util', 'fastest-levenshtein'],
  kinds: ['zod'],
  plan: [],
  contract: [],
  reconcile: [],
  manifest: [
    'node:buffer',
    'node:zlib', // Git's objects
    'node:fs',
    'node:fs/promises',
    'node:path',
    'node:timers/promises',
    'ignore',
    'yaml',
    'zod',
  ],
}

/** What would make a pure function impure: clock, chance, process, network, files, logger. */
const IMPURE = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bMath\.random\b/,
  /\bperformance\.now\b/,
  /\bprocess\./,
  /\bsetTimeout\b/,
  /\bsetInterval\b/,
  /\bfetch\(/,
  /\bconsole\.(log|info|warn|error|debug)\b/,
  /\brandomUUID\b/,
  /\brandomBytes\b/,
]

const PURE = CORE

interface Source {
  /** Relative to src/. */
  readonly file: string
  readonly layer: string
  readonly text: string
  readonly imports: readonly string[]
}

const SOURCES: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => {
    const text = readFileSync(join(SRC, file), 'utf8')
    return { file, layer: file.split('/')[0] ?? file, text, imports: importsOf(text) }
  })

function importsOf(text: string): readonly string[] {
  const statements =
    /(?:^|\n)\s*(?:import|export)\b[^'"\n;]*?(?:\{[^}]*\}[^'"\n;]*?)?from\s+['"]([^'"]+)['"]/g
  const bare = /(?:^|\n)\s*import\s+['"]([^'"]+)['"]/g
  const dynamic = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g
  return [statements, bare, dynamic].flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => match[1] ?? ''),
  )
}

/** What a file of our own imports, relative to src/; `undefined` for a package. */
function targetOf(source: Source, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return relative(SRC, normalize(join(SRC, dirname(source.file), specifier)))
}

function layerOf(source: Source, specifier: string): string | undefined {
  return targetOf(source, specifier)?.split('/')[0]
}

/** What is imported although it must not be, with its file. */
function importsThat(isWrong: (specifier: string, source: Source) => boolean): readonly string[] {
  return SOURCES.flatMap((source) =>
    source.imports
      .filter((specifier) => isWrong(specifier, source))
      .map((specifier) => `${source.file}: ${specifier}`),
  )
}

describe('layers (design §11)', () => {
  test('the list of layers is the list of folders, and that of rooms the list of folders in the engine', () => {
    const rooms = SOURCES.filter(({ layer, file }) => ENGINE.includes(layer) && file.split('/').length === 3)
    const folders = new Set([...SOURCES.map(({ layer }) => layer), ...rooms.map(({ file }) => dirname(file))])
    expect([...folders].toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted())
  })

  test('no two files have the same name', () => {
    const names = Map.groupBy(
      SOURCES.filter(({ file }) => !SAME_NAMES.test(file)),
      ({ file }) => basename(file),
    )
    expect(
      [...names.values()].filter((files) => files.length > 1).map((files) => files.map(({ file }) => file)),
    ).toEqual([])
  })

  test('each file imports only downwards', () => {
    const wrong = importsThat((specifier, source) => {
      const layer = layerOf(source, specifier)
      const allowed = [source.layer, ...(MAY_IMPORT[source.layer] ?? [])]
      return layer !== undefined && layer !== '..' && !allowed.includes(layer)
    })
    expect(wrong).toEqual([])
  })

  test('each file of a room imports only from its own room and those below', () => {
    const wrong = importsThat((specifier, source) => {
      const rooms = MAY_IMPORT[dirname(source.file)]
      const target = targetOf(source, specifier)
      if (rooms === undefined || source.file.split('/').length !== 3) return false
      if (target === undefined || target.split('/')[0] !== source.layer) return false
      const allowed = [dirname(source.file), ...rooms]
      return !allowed.some((room) => target === room || target.startsWith(`${room}/`))
    })
    expect(wrong).toEqual([])
  })

  test('each file uses only packages of its layer', () => {
    const wrong = importsThat((specifier, { layer }) => {
      const allowed = PACKAGES[layer]
      return allowed !== undefined && !specifier.startsWith('.') && !allowed.includes(specifier)
    })
    expect(wrong).toEqual([])
  })

  test('only telemetry knows the logger and the metrics library', () => {
    const users = SOURCES.filter((source) =>
      source.imports.some((name) => /^(pino|pino-pretty|prom-client)$/.test(name)),
    )
    expect([...new Set(users.map((source) => source.layer))]).toEqual(['telemetry'])
  })

  test('no file imports itself in a circle', () => {
    expect(circleOf(SOURCES)).toEqual([])
  })
})

describe('purity (design §11)', () => {
  test('no file of the core has a clock, chance, process, network or file', () => {
    const wrong = SOURCES.filter(({ layer }) => PURE.includes(layer)).flatMap(({ file, text }) => {
      const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      return IMPURE.filter((pattern) => pattern.test(code)).map((pattern) => `${file}: ${String(pattern)}`)
    })
    expect(wrong).toEqual([])
  })
})

describe('the checks themselves can fail', () => {
  test('imports of every form are seen', () => {
    const text = `import a from 'a'\nimport {\n  b,\n} from "b"\nexport { c } from 'c'\nimport 'd'\nconst e = await import('e')\nimport type { F } from 'f'\n`
    expect(importsOf(text).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  test('a circle is found', () => {
    const files = [
      { file: 'lib/a.ts', layer: 'lib', text: '', imports: ['./b.ts'] },
      { file: 'lib/b.ts', layer: 'lib', text: '', imports: ['./a.ts'] },
    ]
    expect(circleOf(files)).not.toEqual([])
  })
})

/** The files of one circle of imports, or nothing. */
function circleOf(sources: readonly Source[]): readonly string[] {
  const byFile = new Map(sources.map((source) => [source.file, source]))
  const done = new Set<string>()
  function visit(file: string, path: readonly string[]): readonly string[] {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    const source = byFile.get(file)
    if (source === undefined || done.has(file)) return []
    for (const specifier of source.imports.filter((name) => name.startsWith('.'))) {
      const circle = visit(normalize(join(dirname(file), specifier)), [...path, file])
      if (circle.length > 0) return circle
    }
    done.add(file)
    return []
  }
  for (const source of sources) {
    const circle = visit(source.file, [])
    if (circle.length > 0) return circle
  }
  return []
}
