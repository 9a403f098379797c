/**
 * Prints what the npm package holds as CycloneDX (`npm run sbom`): the packages in the bundle. `npm run sbom -- FOLDER ARCHITECTURE`
 * prints what an image holds whose root is laid out in that folder: the same, and Node, npm and the packages of Debian.
 * npm is asked in a folder whose package.json and lock file name the packages of the bundle and no others.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../build.ts'
import packageJson from '../package.json' with { type: 'json' }
import lock from '../package-lock.json' with { type: 'json' }
import { componentsOfImage } from './sbom-of-image.ts'

const { packages } = await bundle()
const names = new Set(packages.map((folder) => folder.split('node_modules/').at(-1)))

/** Without what was left out of the bundle, such as what a package needs only at its own command line. */
function pruned(about: object): object {
  const needed = 'dependencies' in about ? Object.entries(about.dependencies as object) : []
  const dependencies = Object.fromEntries(needed.filter(([name]) => names.has(name)))
  return { ...about, dependencies, peerDependencies: {} }
}

const { devDependencies: _development, ...production } = packageJson
const entries = Object.entries(lock.packages).filter(([path]) => packages.includes(path))
const lockFile = {
  ...lock,
  packages: { '': production, ...Object.fromEntries(entries.map(([path, about]) => [path, pruned(about)])) },
}

/** As npm prints it, as far as something is added here. */
interface Bom {
  readonly components: readonly object[]
  readonly metadata: { readonly component: object }
}

function bomOfBundle(): Bom {
  const base = mkdtempSync(join(tmpdir(), 'pipewright-sbom-'))
  try {
    const folder = join(base, packageJson.name) // npm takes the component's name from it
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), JSON.stringify(production))
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lockFile))
    const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']
    return JSON.parse(
      execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 64_000_000 }),
    ) as Bom
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

const [root, architecture = 'amd64'] = process.argv.slice(2)
const bom = bomOfBundle()
const whole =
  root === undefined
    ? bom
    : { ...bom, components: [...bom.components, ...componentsOfImage(root, architecture)] }
process.stdout.write(`${JSON.stringify(whole, undefined, 2)}\n`)
