import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { ROOT } from '../support/process.ts'

/** A change of one place in the sources, in whichever file it is. */
export interface Patch {
  /** Read without its layout; there must be one such place in all of `src`. */
  readonly from: string
  readonly to: string
  /** What its file needs besides; `from '#name'` imports what another file of `src` exports under this name. */
  readonly below?: string
}

export type Patches = Patch | readonly Patch[]

/** A copy of the sources in which something may be broken. */
export interface Checkout extends Disposable {
  readonly dir: string
  /** Files that are patched, as Git names them. */
  readonly patched: readonly string[]
}

/** A copy of this checkout's sources. @throws when a patch has no place in it, or more than one */
export function copyOf(patches: Patches): Checkout {
  const dir = mkdtempSync(join(tmpdir(), 'pipewright-broken-'))
  for (const part of ['src', 'package.json']) cpSync(join(ROOT, part), join(dir, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  const patched: string[] = []
  const checkout: Checkout = {
    dir,
    patched,
    [Symbol.dispose]() {
      rmSync(dir, { recursive: true, force: true })
    },
  }
  try {
    for (const patch of [patches].flat()) patched.push(relative(dir, applyTo(dir, patch)))
    return checkout
  } catch (error) {
    checkout[Symbol.dispose]()
    throw error
  }
}

/** A file below `src`. */
interface Source {
  readonly path: string
  readonly text: string
}

export function sourcesIn(dir: string): readonly Source[] {
  return globSync(join(dir, 'src/**/*.ts')).map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}

/** @throws when the patch has no place in these sources, or more than one */
export function placeOf(sources: readonly Source[], { from }: Patch) {
  // The pattern is slow. Few files have the longest word.
  const [word = ''] = (from.match(/\w+/g) ?? []).toSorted((a, b) => b.length - a.length)
  const candidates = sources.filter(({ text }) => text.includes(word))
  return theOnlyPlace(candidates, anyLayoutOf(from), from)
}

/** @returns the path of the patched file */
function applyTo(dir: string, patch: Patch): string {
  const { to, below = '' } = patch
  const { path, text, found } = placeOf(sourcesIn(dir), patch)
  const imported = below.replace(/'#(\w+)'/g, (_, name: string) => {
    const other = relative(dirname(path), fileOf(dir, name))
    return `'${other.startsWith('.') ? other : `./${other}`}'`
  })
  const [before, after] = [text.slice(0, found.index), text.slice(found.index + found[0].length)]
  writeFileSync(path, `${before}${to}${after}\n${imported}\n`)
  return path
}

/** The file of a copy that exports this name. */
function fileOf(dir: string, name: string): string {
  const exported = new RegExp(`^export (?:async )?(?:function|const|class) ${name}\\b`, 'gm')
  return theOnlyPlace(sourcesIn(dir), exported, name).path
}

/** @throws when there is none, or more than one */
function theOnlyPlace(sources: readonly Source[], pattern: RegExp, named: string) {
  const places = sources.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map((found) => ({ path, text, found })),
  )
  const [place, ...others] = places
  if (place === undefined || others.length > 0) {
    const paths = places.map(({ path }) => path).join(', ')
    throw new Error(
      `it must be one place that reads ${JSON.stringify(named)}, and it is ${places.length}: ${paths}`,
    )
  }
  return place
}

/** Finds a text however its lines are broken. */
function anyLayoutOf(text: string): RegExp {
  const tokens = text.match(/\w+|[^\s\w]/g) ?? []
  const parts = tokens.map((token, at) => `${gapBefore(token, tokens[at - 1])}${RegExp.escape(token)}`)
  return new RegExp(parts.join(''), 'g')
}

function gapBefore(token: string, before: string | undefined): string {
  if (before === undefined) return ''
  if (/\w/.test(token) && /\w/.test(before)) return '\\s+'
  return /[)\]}]/.test(token) ? ',?\\s*' : '\\s*'
}

/** Whether a patched file, or one of the tests that notice, changed since the commit SUITES_SINCE; true without such a commit. */
export function isChanged({ patched }: Checkout, tests: string): boolean {
  const since = process.env['SUITES_SINCE'] ?? ''
  if (since === '') return true
  const paths = ['--', tests, ...patched]
  return execFileSync('git', ['diff', '--name-only', since, ...paths], { cwd: ROOT }).length > 0
}
