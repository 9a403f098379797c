import { readFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { bundle } from '../../build.ts'
import packageJson from '../../package.json' with { type: 'json' }
import lock from '../../package-lock.json' with { type: 'json' }
import { ROOT } from '../support/process.ts'

const PRODUCTION = Object.keys(packageJson.dependencies).toSorted()

const { code, packages } = await bundle()

/** Rows of the table of dependencies in docs/contributing/decisions.md: names, and why. */
function rows(): readonly { readonly names: readonly string[]; readonly why: string }[] {
  const page =
    readFileSync(`${ROOT}/docs/contributing/decisions.md`, 'utf8').split('## Dependencies')[1] ?? ''
  return [...page.matchAll(/^\| (\S.*?) +\| (\S.*?) +\|$/gm)].flatMap(([, names = '', why = '']) =>
    names === 'package' || names.startsWith('---') ? [] : [{ names: names.split(', '), why }],
  )
}

test('docs/contributing/decisions.md gives a reason for each production dependency, and for no other', () => {
  expect(
    rows()
      .flatMap(({ names }) => names)
      .toSorted(),
  ).toEqual(PRODUCTION)
  for (const { names, why } of rows()) expect(why.length, names.join()).toBeGreaterThan(10)
})

test('package-lock.json pins every package with a hash', () => {
  const loose = Object.entries(lock.packages).filter(
    ([path, about]) =>
      path !== '' && !('link' in about) && !('integrity' in about && about.integrity.startsWith('sha512-')),
  )
  expect(loose.map(([path]) => path)).toEqual([])
})

test('docs/explanation/security.md counts them', () => {
  const words = ['Nine', 'Ten', 'Eleven', 'Twelve', 'Thirteen', 'Fourteen', 'Fifteen']
  expect(readFileSync(`${ROOT}/docs/explanation/security.md`, 'utf8')).toContain(
    `${words[PRODUCTION.length - 9]} direct production dependencies`,
  )
})

test('the bundle holds the production dependencies, and nothing of the development', () => {
  const development = Object.entries(lock.packages).flatMap(([path, about]) => ('dev' in about ? [path] : []))
  expect(packages.filter((path) => development.includes(path))).toEqual([])
  expect(PRODUCTION.filter((name) => !packages.includes(`node_modules/${name}`))).toEqual([])
})

test('the bundle has no letter beyond ASCII, and says what it said', () => {
  expect(/[^\0-\x7f]/.test(code)).toBe(false)
  expect(code).toContain(String.raw`\u2026`)
})

test('npm run sbom prints what the bundle holds, as CycloneDX', () => {
  const printed = execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, encoding: 'utf8' })
  const bom = JSON.parse(printed) as {
    bomFormat: string
    components: readonly { name: string; group?: string; version: string; hashes?: readonly unknown[] }[]
  } // CycloneDX
  expect(bom.bomFormat).toBe('CycloneDX')
  const wanted = Object.entries(lock.packages)
    .filter(([path]) => packages.includes(path))
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`)
  expect(wanted).toHaveLength(packages.length)
  const named = bom.components.map(
    ({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`,
  )
  expect(named.toSorted()).toEqual([...new Set(wanted)].toSorted())
  expect(bom.components.every(({ hashes = [] }) => hashes.length > 0)).toBe(true)
}, 120_000)
