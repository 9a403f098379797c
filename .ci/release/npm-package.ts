/**
 * `npm-package.ts FOLDER` makes the npm package in a folder: the command, the bundle and its licences. The bundle holds all that it
 * needs, so that the package depends on nothing and runs nothing when it is installed.
 * A checkout stays `private`: nothing but what this makes gets into a registry.
 * GITHUB_REPOSITORY (`owner/name`) is where it comes from; with npm's provenance it has to be right.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { writeBundle } from '../../build.ts'
import packageJson from '../../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '../..')

const [into] = process.argv.slice(2)
if (into === undefined) throw new Error('usage: npm-package.ts FOLDER')
const repository = process.env['GITHUB_REPOSITORY']

const folder = mkdtempSync(join(tmpdir(), 'pipewright-npm-'))
try {
  for (const name of ['bin', 'LICENSE', 'README.md'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  await writeBundle(join(folder, 'dist'))
  const { name, version, description, license, type, bin, files, engines } = packageJson
  const about = {
    name,
    version,
    description,
    license,
    type,
    bin,
    files,
    engines,
    ...(repository === undefined
      ? {}
      : { repository: { type: 'git', url: `git+https://github.com/${repository}.git` } }),
    publishConfig: { access: 'public', provenance: true },
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(about, undefined, 2)}\n`)
  const target = resolve(into)
  mkdirSync(target, { recursive: true })
  const printed = execFileSync('npm', ['pack', '--silent', '--pack-destination', target], {
    cwd: folder,
    encoding: 'utf8',
  })
  process.stdout.write(`${join(target, printed.trim())}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
