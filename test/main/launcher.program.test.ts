import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { layOutBundle } from '../support/bundle.ts'
import { LAUNCHER, MAIN, ROOT, runProgram, startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { folderForFile, folderForTest } from '../support/folders.ts'

/** On a machine that is busy with other things. */
const BUSY_MS = 180_000

/** A folder as the image and the npm package lay it out, with no package beside it. */
const folder = folderForFile()
let command: string

beforeAll(async () => {
  command = await layOutBundle(folder)
}, BUSY_MS)

describe('bin/pipewright.js in a checkout', () => {
  it('is the command of the package, and can be called as one', () => {
    expect(join(ROOT, packageJson.bin.pipewright)).toBe(LAUNCHER)
    expect(statSync(LAUNCHER).mode & 0o111).toBe(0o111)
    const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` }
    expect(execFileSync(LAUNCHER, ['--version'], { env, encoding: 'utf8' }).trim()).toBe(packageJson.version)
  })

  it.each([
    { where: 'in a checkout', launcher: () => LAUNCHER, says: '"npx pipewright" finds the right one.' },
    {
      where: 'in the npm package',
      launcher: () => command,
      says: 'npx --package=node@26 --package=pipewright pipewright',
    },
  ])('says which Node it needs and how to get it, on one that is too old: $where', ({ launcher, says }) => {
    const older = 'Object.defineProperty(process, "versions", { value: { node: "20.20.2" } })'
    const args = ['--import', `data:text/javascript,${older}`, launcher(), '--version']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^pipewright: this is Node 20\.20\.2, at .*; Node 26 or newer is needed\. .*\n$/)
    expect(stderr).toContain(says)
  })

  it.each(
    Object.entries({
      'on an older Node': { version: '20.20.2', says: 'Run "npm ci" first, which brings it.' },
      'on the right one': { version: process.versions.node, says: 'Run "npm ci" first.' },
    }),
  )('says what to do in a checkout without packages, %s', (_why, { version, says }) => {
    const bare = folderForTest()
    cpSync(join(ROOT, 'bin'), join(bare, 'bin'), { recursive: true })
    mkdirSync(join(bare, 'src'))
    writeFileSync(join(bare, 'src/main.ts'), "import 'commander'\n")
    writeFileSync(join(bare, 'package.json'), '{"type": "module"}')
    const node = `Object.defineProperty(process, "versions", { value: { node: "${version}" } })`
    const args = ['--import', `data:text/javascript,${node}`, join(bare, 'bin/pipewright.js'), 'validate']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toContain(says)
    expect(stderr.split('\n')).toHaveLength(2)
  })

  it('runs the sources, also when a build left something in dist/', async () => {
    const checkout = join(folder, 'checkout')
    cpSync(join(ROOT, 'bin'), join(checkout, 'bin'), { recursive: true })
    for (const [file, text] of [
      ['src/main.ts', 'const said: string = "sources"; console.log(said)'],
      ['dist/pipewright.js', 'console.log("bundle")'],
    ] as const) {
      mkdirSync(dirname(join(checkout, file)))
      writeFileSync(join(checkout, file), text)
    }
    const { stdout } = await runProgram([], { main: join(checkout, 'bin/pipewright.js') })
    expect(stdout).toBe('sources\n')
  })
})

describe('the bundle, from a folder without packages', () => {
  it.each([
    [['--version']],
    [['schema', 'Pip']],
    [['validate', 'manifests', '-o', 'sarif']],
    [['plan', '--manifests', 'manifests', '--sandbox', '--ledger', 'memory:']],
    [['nonsense']],
  ])(
    'does what src/main.ts does: %j',
    async (args) => {
      const [bundled, sources] = await Promise.all(
        [command, MAIN].map((main) => runProgram(args, { main, cwd: ROOT })),
      )
      expect(bundled).toEqual(sources)
    },
    BUSY_MS,
  )

  it(
    'runs the daemon: ready, with its page, its metrics and its API',
    async () => {
      const args = ['run', '--sandbox', '--manifests', join(ROOT, 'manifests'), '--listen', '127.0.0.1:0']
      await using program = startProgram(args, { main: command, cwd: folder })
      const url = await urlOf(program)
      await until(`readiness\n${program.stderr()}`, async () => (await fetch(`${url}/readyz`)).ok)
      for (const [path, text] of [
        ['/', '<!doctype html>'],
        ['/page.js', 'import'],
        ['/metrics', 'pipewright_build_info'],
        ['/api/v1/overview', '"sandbox":true'],
      ] as const) {
        expect([path, await (await fetch(`${url}${path}`)).text()]).toEqual([
          path,
          expect.stringContaining(text),
        ])
      }
      program.signal('SIGTERM')
      expect(await program.ended).toBe(0)
      expect(program.stderr()).toBe('')
    },
    BUSY_MS,
  )

  it('keeps compiled code for the next start, where it can', () => {
    const here = folderForTest()
    const cache = join(here, 'dist/cache')
    const start = () => {
      const env = { PATH: process.env['PATH'] }
      const { stdout, stderr } = spawnSync(process.execPath, [join(here, 'bin/pipewright.js'), '--version'], {
        env,
        encoding: 'utf8',
      })
      return [stdout.trim(), stderr]
    }
    cpSync(folder, here, { recursive: true })
    rmSync(cache, { recursive: true, force: true })
    writeFileSync(cache, 'a file, so that no folder can be made')
    expect(start()).toEqual([packageJson.version, ''])
    rmSync(cache)
    expect(start()).toEqual([packageJson.version, ''])
    expect(readdirSync(cache)).toHaveLength(1)
    expect(start()).toEqual([packageJson.version, ''])
  })

  it('brings the licences of what is in it', () => {
    const licenses = readFileSync(join(folder, 'dist/licenses.txt'), 'utf8')
    for (const name of Object.keys(packageJson.dependencies))
      expect(licenses).toMatch(new RegExp(`^${name} \\d`, 'm'))
    expect(licenses).not.toContain('undefined')
  })
})
