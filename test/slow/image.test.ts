import { execFileSync } from 'node:child_process'
import { chownSync, cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import lock from '../../package-lock.json' with { type: 'json' }
import { ROOT } from '../support/process.ts'
import { until } from '../support/until.ts'
import { podsOf } from './support/chart-world.ts'
import { baseName } from './support/image-base.ts'
import type { Buildah, ImageConfig } from './support/image-buildah.ts'
import { BUILD_ARGS, builtImage, IMAGE } from './support/image-root.ts'
import { startContainer, type Container, type Mount } from './support/image-container.ts'
import { folderForFile } from '../support/folders.ts'

/** Beyond Node's own image. */
const LIMIT_BYTES = 10_000_000

const USER = 65_532

const folder = folderForFile()
let buildah: Buildah
let layers: readonly string[]
let config: ImageConfig
let base: string
let root: string

beforeAll(async () => {
  const built = await builtImage()
  buildah = built.buildah
  layers = built.layers
  config = await buildah.config(IMAGE)
  base = await buildah.layOut(baseName())
  root = await buildah.layOut(IMAGE)
}, 600_000)

/** A folder that the container's user owns, as a fresh volume. */
function volume(name: string): string {
  const path = mkdtempSync(join(folder, `${name}-`))
  chownSync(path, USER, USER)
  return path
}

function examples(): Mount {
  const from = mkdtempSync(join(folder, 'manifests-'))
  cpSync(join(ROOT, 'manifests'), from, { recursive: true })
  execFileSync('chmod', ['-R', 'a+rX', from])
  return { from, to: '/manifests', mode: 'ro' }
}

function start(
  command: readonly string[] | undefined,
  mounts: readonly Mount[],
  env: Readonly<Record<string, string>> = {},
): Promise<Container> {
  const given = command === undefined ? {} : { command }
  return startContainer({
    root,
    config,
    mounts,
    env: { PIPEWRIGHT_MANIFESTS: '/manifests', ...env },
    ...given,
  })
}

/** Paths below a folder, links not followed. */
function everything(dir: string, below = ''): readonly string[] {
  return readdirSync(join(dir, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name)
    return entry.isDirectory() ? [path, ...everything(dir, path)] : [path]
  })
}

function bytes(dir: string): number {
  return everything(dir).reduce((sum, path) => sum + lstatSync(join(dir, path)).size, 0)
}

describe('the image', () => {
  test('names the Node of package-lock.json', () => {
    expect(baseName()).toContain(`:${lock.packages['node_modules/node'].version}-`)
  })

  test('is built for another platform without running anything of that platform', () => {
    const stages = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
      .split(/^(?=FROM )/m)
      .slice(1)
    expect(stages.map((stage) => stage.split('\n')[0])).toEqual([
      'FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build',
      'FROM ${NODE_IMAGE}',
    ])
    expect(stages.at(-1)).not.toMatch(/^RUN/m)
  })

  test('says what it is, who runs in it, and how it is stopped and checked', () => {
    expect(config).toMatchObject({
      User: `${USER}:${USER}`,
      Entrypoint: ['node', '/app/bin/pipewright.js'],
      Cmd: ['run'],
      StopSignal: 'SIGTERM',
      ExposedPorts: { '8080/tcp': {}, '9090/tcp': {} },
    })
    expect(config.Volumes ?? {}).toEqual({})
    expect(config.Healthcheck.Test.slice(0, 2)).toEqual(['CMD', 'node'])
    expect(config.Labels).toMatchObject({
      'org.opencontainers.image.title': packageJson.name,
      'org.opencontainers.image.version': packageJson.version,
      'org.opencontainers.image.licenses': packageJson.license,
      'org.opencontainers.image.revision': BUILD_ARGS.REVISION,
      'org.opencontainers.image.source': BUILD_ARGS.SOURCE,
      'org.opencontainers.image.base.name': baseName(),
    })
  })

  test('adds less than 10 MB to its base', () => {
    const added = bytes(root) - bytes(base)
    process.stdout.write(`the image adds ${(added / 1e6).toFixed(1)} MB to its base\n`)
    expect(added).toBeGreaterThan(0)
    expect(added).toBeLessThan(LIMIT_BYTES)
  })

  test('adds the command, the bundle, the examples, and nothing else', () => {
    const before = new Set(everything(base))
    const added = everything(root).filter((path) => !before.has(path))
    const outside = added.filter((path) => !path.startsWith('app/') && path !== 'app')
    expect(outside).toEqual(['usr/local/bin/pipewright', 'var/lib/pipewright'])
    const names = ['LICENSE', 'bin', 'dist', 'manifests', 'package.json']
    expect(readdirSync(join(root, 'app')).toSorted()).toEqual(names)
    expect(readdirSync(join(root, 'app/dist')).toSorted()).toEqual(['licenses.txt', 'page', 'pipewright.js'])
    // One build serves every platform: see the Dockerfile's first stage.
    expect(added.filter((path) => path.endsWith('.node'))).toEqual([])
  })

  test('has nothing in /app that its user could change, and nothing that raises rights', () => {
    const open = everything(join(root, 'app')).filter((path) => {
      const stat = lstatSync(join(root, 'app', path))
      const wrong = (stat.mode & 0o6022) !== 0 || (stat.mode & 0o004) === 0
      return stat.uid !== 0 || (wrong && !stat.isSymbolicLink())
    })
    expect(open).toEqual([])
    expect(lstatSync(join(root, 'var/lib/pipewright'))).toMatchObject({ uid: USER, gid: USER, mode: 0o40700 })
  })

  test('is the same when it is built again', async () => {
    const again = await buildah.build('pipewright-again', BUILD_ARGS)
    expect(again).toEqual(layers)
  })
})

describe('a container of it, with a read-only root and no capabilities', () => {
  test('validates manifests: 0 when all are right, 1 with the line when one is not', async () => {
    const mount = examples()
    await using right = await start(['validate', '/manifests'], [mount])
    expect(await right.ended).toBe(0)
    expect(right.stdout()).toContain('no findings')

    writeFileSync(
      join(mount.from, 'wrong.yaml'),
      'apiVersion: pipewright/v1\nkind: Pip\nmetadata: {name: x}\n',
    )
    await using wrong = await start(['validate', '/manifests', '-o', 'json'], [mount])
    expect(await wrong.ended).toBe(1)
    expect(wrong.stdout()).toContain('wrong.yaml')
  })

  test('runs its examples in the chart with platform.sandbox alone: ready, healthy, answers commands, ends on SIGTERM', async () => {
    const state: Mount = { from: volume('state'), to: '/var/lib/pipewright', mode: 'rw' }
    const [pod] = await podsOf({ platform: { sandbox: true } }, folder)
    const env = pod.containers[0]?.env?.map(({ name, value = '' }) => [name, value]) ?? []
    await using container = await start(undefined, [state], Object.fromEntries(env))
    const get = (path: string) =>
      container.exec([
        'node',
        '-e',
        `fetch('http://127.0.0.1:8080${path}').then(async (reply) => { console.log(reply.status, await reply.text()) })`,
      ])
    await until('readiness', async () => (await get('/readyz')).stdout.startsWith('200'))
    expect((await get('/readyz')).stdout).toContain('"ok":true')

    const [, ...healthCheck] = config.Healthcheck.Test
    expect(await container.exec(healthCheck)).toMatchObject({ code: 0 })
    expect(
      await container.exec(['env', 'PIPEWRIGHT_METRICS_LISTEN=0.0.0.0:9', ...healthCheck]),
    ).toMatchObject({ code: 1 })

    expect(await container.status()).toMatchObject({
      Name: expect.stringMatching(/^node/) as string,
      Uid: [USER, USER, USER, USER].join('\t'),
      CapEff: '0'.repeat(16),
      CapPrm: '0'.repeat(16),
      CapBnd: '0'.repeat(16),
      NoNewPrivs: '1',
    })
    const write = (path: string) => container.exec(['sh', '-c', `echo x > ${path}`])
    for (const path of ['/tmp/x', '/app/x', '/app/manifests/x']) {
      expect((await write(path)).stderr).toMatch(/Read-only file system|Permission denied/)
    }
    expect((await write('/tmp/x')).stderr).toContain('Read-only file system')
    // No package manager and no shell stayed: beside process 1 there is only who asks.
    const names = (await container.exec(['sh', '-c', 'cat /proc/[0-9]*/comm'])).stdout.trim().split('\n')
    expect(names.filter((name) => name !== 'sh' && name !== 'cat')).toEqual([names[0]])
    expect(names[0]).toMatch(/^node/)

    const status = await container.exec(['pipewright', 'status', '--sandbox', '-o', 'json'])
    expect(status.stdout).toContain('Pipe/orders')

    await container.signal('SIGTERM')
    expect(await container.ended).toBe(0)
    expect(container.stderr()).toBe('')
    expect(container.stdout()).toContain('"Stopped"')
    expect(readdirSync(join(state.from, '.pipewright'))).toContain('sandbox-ledger.db')
  })

  test('with no volume for the ledger it does not start, and says where it cannot write', async () => {
    await using container = await start(undefined, [examples()], {
      PIPEWRIGHT_BASE_URL: 'https://api.example',
    })
    expect(await container.ended).toBe(1)
    expect(container.stderr()).toContain('ledger')
    expect(container.stderr()).toMatch(/read-only/i)
  })
})
