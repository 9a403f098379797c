import { copyFileSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../support/process.ts'
import type { Buildah } from './image-buildah.ts'
import { runWell, tool } from './tools.ts'

/** Like the one in the image whose place this takes; any that can `npm ci` does. */
const NPM = 'npm@11.19.1'

const MINUTES = 60_000

/** What Debian's slim images are without; each copy of the image costs less. */
const NOT_IN_SLIM = [
  'usr/share/doc',
  'usr/share/locale',
  'usr/share/man',
  'var/cache/apt',
  'var/lib/apt/lists',
]

/** The name that the Dockerfile builds on, such as `docker.io/library/node:26.10.0-trixie-slim`. */
export function baseName(): string {
  const [, name] = /^ARG NODE_IMAGE=(\S+)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? []
  if (name === undefined) throw new Error('the Dockerfile names no NODE_IMAGE')
  return name
}

/**
 * Makes a stand-in for Node's own slim image, as no image can be pulled: the same Debian, the project's Node, npm.
 * npm in it gets the registry and the certificates that npm of this machine uses.
 */
export async function makeBase(buildah: Buildah, folder: string): Promise<void> {
  const [, suite = ''] = /:[\d.]+-(\w+)-slim$/.exec(baseName()) ?? []
  const root = join(folder, 'base')
  await runWell(tool('debootstrap'), ['--variant=minbase', '--include=libatomic1', suite, root], {
    limitMs: 5 * MINUTES,
  })
  copyFileSync(realpathSync(join(ROOT, 'node_modules/node/bin/node')), join(root, 'usr/local/bin/node'))
  await runWell('npm', ['install', '--global', '--prefix', join(root, 'usr/local'), NPM], {
    cwd: folder,
    limitMs: 2 * MINUTES,
  })
  await configureNpm(root)
  for (const path of NOT_IN_SLIM) rmSync(join(root, path), { recursive: true })
  await buildah.commitFolder(root, baseName())
  rmSync(root, { recursive: true })
}

/** npm gets the registry and the certificates that npm of this machine uses. */
export async function configureNpm(root: string): Promise<void> {
  const lines = [`registry=${(await runWell('npm', ['config', 'get', 'registry'])).trim()}`]
  const authorities = process.env['NODE_EXTRA_CA_CERTS']
  mkdirSync(join(root, 'usr/local/etc'), { recursive: true })
  if (authorities !== undefined) {
    copyFileSync(authorities, join(root, 'usr/local/etc/npm-ca.crt'))
    lines.push('cafile=/usr/local/etc/npm-ca.crt')
  }
  writeFileSync(join(root, 'usr/local/etc/npmrc'), `${lines.join('\n')}\n`)
}
