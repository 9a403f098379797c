/**
 * Builds what the image and the npm package carry (`npm run build`): `dist/pipewright.js`, all sources and packages in one
 * file, and beside it what is read at run time.
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { rolldown } from 'rolldown'

const ROOT = import.meta.dirname

/** What the page loads, as `src/server/routes.ts` serves it. */
const PAGE_FILES = {
  'preact.js': 'node_modules/preact/dist/preact.mjs',
  'htm.js': 'node_modules/htm/dist/htm.mjs',
  'simple.css': 'node_modules/simpledotcss/simple.min.css',
}

export interface Bundle {
  readonly code: string
  /** Folders of the packages in it, as package-lock.json names them, such as `node_modules/zod`. */
  readonly packages: readonly string[]
}

/**
 * Nothing is shortened: a stack trace names functions and lines that can be read.
 * @param main another `main.ts` than that of this checkout
 */
export async function bundle(main = join(ROOT, 'src/main.ts')): Promise<Bundle> {
  // The entry of `yaml` for Node reads an environment variable for each token.
  const alias = { yaml: join(ROOT, 'node_modules/yaml/browser/index.js') }
  await using build = await rolldown({ input: main, platform: 'node', resolve: { alias } })
  const { output } = await build.generate({ codeSplitting: false, comments: false })
  const [{ code, moduleIds }] = output
  const ids = moduleIds.map((id) => relative(ROOT, id))
  const packages = [...ids, ...Object.values(PAGE_FILES)].flatMap((id) => {
    const [folder] = /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(id) ?? []
    return folder === undefined ? [] : [folder]
  })
  return { code: inAscii(code), packages: [...new Set(packages)].toSorted() }
}

/** With a single letter beyond Latin-1, V8 keeps the whole text in two bytes a letter, and takes longer to read it. */
function inAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The licences of all packages ask for their text to travel along. */
function licensesOf(packages: readonly string[]): string {
  return packages
    .map((folder) => {
      const about = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
        name: string
        version: string
        license?: string
      }
      const files = globSync('{LICEN[CS]E,licen[cs]e,NOTICE,COPYING}*', {
        cwd: join(ROOT, folder),
      }).toSorted()
      const texts = files.map((file) => readFileSync(join(ROOT, folder, file), 'utf8').trim())
      return [`${about.name} ${about.version} (${about.license})`, ...texts].join('\n\n')
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`)
    .concat('\n')
}

/** @param folder is emptied before */
export async function writeBundle(folder: string): Promise<void> {
  const { code, packages } = await bundle()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'pipewright.js'), code)
  writeFileSync(join(folder, 'licenses.txt'), licensesOf(packages))
  cpSync(join(ROOT, 'src/server/page'), join(folder, 'page'), {
    recursive: true,
    filter: (path) => !path.endsWith('tsconfig.json'), // for checking its types, here
  })
  for (const [file, source] of Object.entries(PAGE_FILES))
    cpSync(join(ROOT, source), join(folder, 'page', file))
}

if (import.meta.main) await writeBundle(join(ROOT, 'dist'))
