import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

/** What an SBOM says of one thing, in CycloneDX. */
export interface Component {
  readonly 'bom-ref': string
  readonly type: 'application' | 'library' | 'operating-system'
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly cpe?: string
}

/**
 * What an image brings beside the bundle, by its root laid out in a folder: the distribution and its packages, Node, and the
 * packages of npm that come with it. Nothing of the image is run, so that it can be made for another architecture.
 * @throws when the folder has no Debian or no Node: an SBOM without them would be taken for a whole one
 */
export function componentsOfImage(root: string, architecture: string): readonly Component[] {
  const { ID = '', VERSION_ID = '' } = parseEnv(readFileSync(join(root, 'etc/os-release'), 'utf8'))
  return [
    { 'bom-ref': `os:${ID}@${VERSION_ID}`, type: 'operating-system', name: ID, version: VERSION_ID },
    ...debianPackages(root, `distro=${ID}-${VERSION_ID}`),
    node(root, architecture),
    ...globalPackages(root),
  ]
}

/** @param distro which one, as scanners ask for it: `distro=debian-13` */
function debianPackages(root: string, distro: string): readonly Component[] {
  const packages = readFileSync(join(root, 'var/lib/dpkg/status'), 'utf8')
    .split('\n\n')
    .flatMap((entry) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(entry)?.[1]
      const [name, version, arch] = [field('Package'), field('Version'), field('Architecture')]
      if (name === undefined || version === undefined || arch === undefined) return []
      if (field('Status') !== 'install ok installed') return []
      // Advisories are written for the source that a package is made of: `glibc (2.41-12)`.
      const [, source = name, sourceVersion = version] =
        /^(\S+)(?: \((.+)\))?$/.exec(field('Source') ?? name) ?? []
      const upstream = encodeURIComponent(`${source}@${sourceVersion}`)
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}&${distro}&upstream=${upstream}`
      return [{ 'bom-ref': purl, type: 'library' as const, name, version, purl }]
    })
  if (packages.length === 0) throw new Error(`${root} has no installed packages of Debian`)
  return packages
}

/** Its version stands in the program itself, as the place of its own sources. */
function node(root: string, architecture: string): Component {
  const program = readFileSync(join(root, 'usr/local/bin/node')).toString('latin1')
  const [, version] = /\/download\/release\/v(\d+\.\d+\.\d+)\/node-v\1\.tar\.gz/.exec(program) ?? []
  if (version === undefined) throw new Error(`usr/local/bin/node of ${root} does not say which version it is`)
  const purl = `pkg:generic/node@${version}?arch=${architecture}`
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`
  return { 'bom-ref': purl, type: 'application', name: 'node', version, purl, cpe }
}

/** npm and what it brings: in Node's image, and not used by ours. */
function globalPackages(root: string): readonly Component[] {
  const folder = join(root, 'usr/local/lib/node_modules')
  if (!existsSync(folder)) return []
  const found = globSync('{*,@*/*,**/node_modules/*,**/node_modules/@*/*}/package.json', {
    cwd: folder,
  }).flatMap((file) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      name?: string
      version?: string
    }
    if (name === undefined || version === undefined) return []
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
    return [{ 'bom-ref': `image:${purl}`, type: 'library' as const, name, version, purl }]
  })
  return [...new Map(found.map((component) => [component['bom-ref'], component])).values()].toSorted(
    (a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1),
  )
}
