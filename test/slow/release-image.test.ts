import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import lock from '../../package-lock.json' with { type: 'json' }
import { ROOT } from '../support/process.ts'
import { until } from '../support/until.ts'
import { configureNpm } from './support/image-base.ts'
import { run, runWell, tool } from './support/tools.ts'
import { folderForFile } from '../support/folders.ts'

/* The image of a release for both architectures, and the chart, pushed to a registry of this machine: .ci/release/image and push-chart. */

const SCRIPTS = join(ROOT, '.ci/release')
const MINUTES = 60_000

/** What the first stage of the Dockerfile runs beside Node. */
const PROGRAMS = ['sh', 'env', 'rm', 'mkdir', 'chmod', 'ln']

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json'
const LIST = 'application/vnd.docker.distribution.manifest.list.v2+json'

const folder = folderForFile()
let out: string
let registry: ChildProcess
let host: string
let env: NodeJS.ProcessEnv
let head: string

beforeAll(async () => {
  out = join(folder, 'out')
  mkdirSync(join(folder, 'home/.config/containers'), { recursive: true })
  mkdirSync(out)
  host = await startRegistry()
  writeFileSync(
    join(folder, 'storage.conf'),
    `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/root"\nrunroot = "${folder}/run"\n`,
  )
  writeFileSync(
    join(folder, 'home/.config/containers/registries.conf'),
    `[[registry]]\nlocation = "${host}"\ninsecure = true\n`,
  )
  env = {
    ...process.env,
    PATH: [
      join(folder, 'bin'),
      dirname(process.execPath),
      dirname(tool('helm')),
      process.env['PATH'] ?? '',
    ].join(delimiter),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    BUILDAH_ISOLATION: 'chroot',
    NODE_IMAGE: `${host}/node:base`,
    SOURCE: 'https://git.example/pipewright',
  }
  await pushBase()
  head = (await runWell('git', ['rev-parse', 'HEAD'], { cwd: ROOT })).trim()
  await runWell(join(SCRIPTS, 'image'), ['build', out], { env: atHome(), limitMs: 9 * MINUTES })
}, 15 * MINUTES)
afterAll(() => {
  registry.kill()
})

/** buildah reads there which registries speak plain HTTP. */
function atHome(): NodeJS.ProcessEnv {
  return { ...env, HOME: join(folder, 'home') }
}

async function startRegistry(): Promise<string> {
  registry = spawn(tool('crane'), ['registry', 'serve', '--address', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [registry.stdout, registry.stderr])
    stream?.on('data', (text: Buffer) => (said += text.toString()))
  await until(`the registry's port\n${said}`, () => /port \d+/.test(said))
  return `127.0.0.1:${/port (\d+)/.exec(said)?.[1]}`
}

/** A stand-in for Node's image, for both architectures: nothing of it is run but in the builder's own. */
async function pushBase(): Promise<void> {
  const root = join(folder, 'base')
  const copy = (from: string, to = from) => {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    copyFileSync(from, join(root, to))
  }
  const node = realpathSync(join(ROOT, 'node_modules/node/bin/node'))
  const programs = PROGRAMS.map((name) => execFileSync('which', [name], { encoding: 'utf8' }).trim())
  // The bundler is a library of its own, built for this machine.
  const bundler = globSync('node_modules/@rolldown/binding-linux-*/*.node', { cwd: ROOT }).map((file) =>
    join(ROOT, file),
  )
  const needed = [node, ...programs, ...bundler].flatMap(
    (file) => execFileSync('ldd', [file], { encoding: 'utf8' }).match(/\/\S+\.so\S*/g) ?? [],
  )
  copy(node, '/usr/local/bin/node')
  copy('/bin/sh')
  for (const file of new Set([...programs, ...needed, '/etc/os-release', '/var/lib/dpkg/status'])) copy(file)
  mkdirSync(join(root, 'tmp'))
  await runWell('npm', ['install', '--global', '--prefix', join(root, 'usr/local'), 'npm@11.19.1'], {
    cwd: folder,
  })
  await configureNpm(root)

  const buildah = (...args: readonly string[]) =>
    runWell(tool('buildah'), args, { env: atHome(), cwd: folder })
  await buildah('manifest', 'create', 'bases')
  for (const architecture of ['amd64', 'arm64']) {
    const container = (await buildah('from', 'scratch')).trim()
    await buildah('copy', '--quiet', container, root, '/')
    await buildah('config', '--arch', architecture, '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container)
    const image = (await buildah('commit', '--quiet', '--rm', container)).trim()
    await buildah('manifest', 'add', '--arch', architecture, 'bases', image)
  }
  await buildah('manifest', 'push', '--all', '--quiet', 'bases', `docker://${env['NODE_IMAGE']}`)
  await buildah('rmi', '--all', '--force')
}

const Bom = z.object({
  components: z.array(
    z.object({ 'bom-ref': z.string(), name: z.string(), version: z.string(), purl: z.string().optional() }),
  ),
})

describe.each(['amd64', 'arm64'])('the SBOM of the image for %s', (architecture) => {
  const read = () =>
    Bom.parse(JSON.parse(readFileSync(join(out, `sbom-${architecture}.cdx.json`), 'utf8'))).components

  test('holds Node, the packages of Debian, npm, and the packages of the bundle', () => {
    const components = read()
    const { version } = lock.packages['node_modules/node']
    expect(components).toContainEqual(
      expect.objectContaining({
        name: 'node',
        version,
        purl: `pkg:generic/node@${version}?arch=${architecture}`,
      }),
    )
    const purls = components.map(({ purl = '' }) => purl)
    for (const wanted of [
      /^pkg:deb\/debian\/libc6@[^?]+\?arch=amd64&distro=debian-\d+&upstream=glibc%40/,
      /^pkg:npm\/npm@11\.19\.1$/,
      new RegExp(`^pkg:npm/zod@${lock.packages['node_modules/zod'].version}$`),
    ]) {
      expect(
        purls.filter((purl) => wanted.test(purl)),
        String(wanted),
      ).toHaveLength(1)
    }
    const installed =
      readFileSync('/var/lib/dpkg/status', 'utf8').match(/^Status: install ok installed$/gm) ?? []
    expect(purls.filter((purl) => purl.startsWith('pkg:deb/'))).toHaveLength(installed.length)
  })

  test('names each thing once', () => {
    const names = read().map((component) => component['bom-ref'])
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })
})

const List = z.object({
  manifests: z.array(
    z.object({ digest: z.string(), platform: z.object({ architecture: z.string(), os: z.string() }) }),
  ),
})
const Manifest = z.object({ config: z.object({ digest: z.string() }) })
const Config = z.object({
  architecture: z.string(),
  config: z.object({ User: z.string(), Labels: z.record(z.string(), z.string()), Healthcheck: z.object({}) }),
})

async function ask(path: string, accept: string): Promise<Response> {
  const reply = await fetch(`http://${host}/v2/acme/pipewright/${path}`, { headers: { accept } })
  expect(reply.status, path).toBe(200)
  return reply
}

function digestIn(file: string): string {
  return readFileSync(join(out, file), 'utf8').trim()
}

test(
  'pushed, there is one name for both architectures; the digests that are signed are those in the registry',
  async () => {
    await runWell(join(SCRIPTS, 'image'), ['push', out, `${host}/acme/pipewright`], {
      env: atHome(),
      limitMs: 4 * MINUTES,
    })
    const reply = await ask(`manifests/${packageJson.version}`, LIST)
    expect(reply.headers.get('docker-content-digest')).toBe(digestIn('image.digest'))
    const { manifests } = List.parse(await reply.json())
    expect(manifests.map(({ digest, platform }) => [platform.os, platform.architecture, digest])).toEqual(
      ['amd64', 'arm64'].map((architecture) => [
        'linux',
        architecture,
        digestIn(`image-${architecture}.digest`),
      ]),
    )
    for (const { digest, platform } of manifests) {
      const { config } = Manifest.parse(await (await ask(`manifests/${digest}`, MANIFEST)).json())
      const image = Config.parse(await (await ask(`blobs/${config.digest}`, '*/*')).json())
      expect(image).toMatchObject({ architecture: platform.architecture, config: { User: '65532:65532' } })
      expect(image.config.Labels).toMatchObject({
        'org.opencontainers.image.version': packageJson.version,
        'org.opencontainers.image.source': 'https://git.example/pipewright',
        'org.opencontainers.image.revision': expect.stringMatching(
          new RegExp(`^${head}(-dirty)?$`),
        ) as string,
      })
    }
    await signs()
    await isReleasedOnce()
  },
  10 * MINUTES,
)

/** A release that failed halfway goes on with the same commit; another commit needs another version. */
async function isReleasedOnce(): Promise<void> {
  const name = `${host}/acme/pipewright`
  const push = () => run(join(SCRIPTS, 'image'), ['push', out, name], { env: atHome(), limitMs: 4 * MINUTES })
  const before = digestIn('image.digest')
  expect(await push()).toMatchObject({ code: 0 })
  expect(digestIn('image.digest')).toBe(before)

  const revision = 'org.opencontainers.image.revision=0123456'
  const one = `${name}@${digestIn('image-amd64.digest')}`
  await runWell(tool('crane'), [
    'mutate',
    one,
    '--label',
    revision,
    '--tag',
    `${name}:${packageJson.version}`,
  ])
  const refused = await push()
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('is there already, of commit 0123456')
}

/** What cosign is asked for; its own keys come from where the workflow runs. */
async function signs(): Promise<void> {
  mkdirSync(join(folder, 'bin'))
  const asked = join(folder, 'asked')
  writeFileSync(join(folder, 'bin/cosign'), `#!/bin/sh\necho "$@" >> '${asked}'\n`, { mode: 0o755 })
  const name = 'ghcr.io/acme/pipewright'
  await runWell(join(SCRIPTS, 'image'), ['sign', out, name], { env })
  expect(readFileSync(asked, 'utf8').trim().split('\n')).toEqual([
    `sign --yes --recursive ${name}@${digestIn('image.digest')}`,
    ...['amd64', 'arm64'].map(
      (architecture) =>
        `attest --yes --type cyclonedx --predicate ${out}/sbom-${architecture}.cdx.json ${name}@${digestIn(`image-${architecture}.digest`)}`,
    ),
  ])
}

test('the chart is pushed beside it, and its digest is that in the registry', async () => {
  const digest = `sha256:${'ab'.repeat(32)}`
  await runWell(process.execPath, [join(SCRIPTS, 'chart.ts'), out, `${host}/acme/pipewright`, digest], {
    env,
  })
  await runWell(join(SCRIPTS, 'push-chart'), [out, `${host}/acme/pipewright`, '--plain-http'], { env })
  const accept = 'application/vnd.oci.image.manifest.v1+json'
  const reply = await ask(`charts/pipewright/manifests/${packageJson.version}`, accept)
  expect(reply.headers.get('docker-content-digest')).toBe(digestIn('chart.digest'))
})
