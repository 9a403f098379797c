/**
 * Prints what the image holds as CycloneDX (`npm run sbom`).
 * Not `npm sbom --omit dev` itself: npm 11 leaves out what a development dependency needs too, zod and yaml among them. So it is
 * asked in a folder whose package.json and lock file have no development dependencies.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import lock from '../package-lock.json' with { type: 'json' }

const { devDependencies: _development, ...production } = packageJson
const packages = Object.entries(lock.packages).filter(([, about]) => !('dev' in about))
const pruned = { ...lock, packages: { ...Object.fromEntries(packages), '': production } }

const base = mkdtempSync(join(tmpdir(), 'pipewright-sbom-'))
try {
  const folder = join(base, packageJson.name) // npm takes the component's name from it
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify(production))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(pruned))
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']
  process.stdout.write(execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 64_000_000 }))
} finally {
  rmSync(base, { recursive: true, force: true })
}
