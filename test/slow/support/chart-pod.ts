import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../support/process.ts'
import type { PodContainer, PodSpec } from './chart.ts'
import type { ImageConfig } from './image-buildah.ts'
import { startContainer, type Container, type Mount } from './image-container.ts'

/** Who reads what a Secret or a ConfigMap holds: `fsGroup` of the pod. */
const GROUP = 65_532

/**
 * What the containers run in: this machine's programs and the checkout, at the places of the image. With it a pod starts
 * without an image; test/slow/image.test.ts starts the real one.
 */
export function createRoot(folder: string): string {
  const root = join(folder, 'root')
  for (const name of ['app', 'usr', 'proc', 'dev', 'tmp', 'etc', 'var/lib/pipewright']) {
    mkdirSync(join(root, name), { recursive: true })
  }
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name))
  return root
}

const MACHINE: readonly Mount[] = [
  { from: '/usr', to: '/usr', mode: 'ro' },
  { from: '/dev', to: '/dev', mode: 'ro' },
  { from: ROOT, to: '/app', mode: 'ro' },
]

/** What the Dockerfile says of how the image starts. */
function imageConfig(): Pick<ImageConfig, 'Entrypoint' | 'WorkingDir' | 'Env'> {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
  const line = (word: string) =>
    new RegExp(`^${word} (.+)$`, 'm').exec(dockerfile.split('\nFROM ').at(-1) ?? '')?.[1] ?? ''
  return {
    Entrypoint: JSON.parse(line('ENTRYPOINT')) as readonly string[], // its exec form
    WorkingDir: line('WORKDIR'),
    Env: ['PATH=/app/node_modules/node/bin:/usr/local/bin:/usr/bin:/bin', ...line('ENV').split(' ')],
  }
}

export interface StartOptions {
  readonly root: string
  readonly pod: PodSpec
  /** Name of the container in the pod. */
  readonly name: string
  /** Folders of this machine, by the names of the pod's volumes. */
  readonly volumes: Readonly<Record<string, string>>
  /** What `valueFrom` and the like give. */
  readonly env?: Readonly<Record<string, string>>
  readonly more?: readonly Mount[]
  readonly network: Container
  /** Of the image whose root this is; without it, this machine's programs and the checkout take its place. */
  readonly image?: ImageConfig
  /** Instead of the container's own command. */
  readonly entrypoint?: readonly string[]
}

/** Starts a container of a rendered pod as the kubelet does: its arguments, variables, user and mounts, read-only where it says so. */
export function startFromPod(options: StartOptions): Promise<Container> {
  const { root, pod, name, volumes, env = {}, more = [], network, entrypoint } = options
  const container = pod.containers.find((one) => one.name === name)
  if (container === undefined) throw new Error(`the pod has no container ${name}`)
  const image = options.image ?? imageConfig()
  return startContainer({
    root,
    network,
    config: {
      ...image,
      ...EMPTY,
      User: userOf(container),
      Entrypoint: entrypoint ?? container.command ?? image.Entrypoint,
    },
    command: container.args ?? [],
    env: { ...variablesOf(container, env), ...env },
    mounts: [...(options.image === undefined ? MACHINE : []), ...mountsOf(container, volumes), ...more],
  })
}

/** Something that runs beside the pod's containers, in the network that they share. */
export function startBeside(
  root: string,
  words: readonly string[],
  mounts: readonly Mount[],
): Promise<Container> {
  const config = { ...imageConfig(), ...EMPTY, User: `${GROUP}:${GROUP}`, WorkingDir: '/' }
  return startContainer({ root, config, command: words, mounts: [...MACHINE, ...mounts] })
}

const EMPTY = { Cmd: [], StopSignal: '', ExposedPorts: {}, Labels: {}, Healthcheck: { Test: [] } }

function userOf({ name, securityContext }: PodContainer): string {
  const user = securityContext?.['runAsUser']
  if (typeof user !== 'number') throw new Error(`the container ${name} has no user`)
  return `${user}:${GROUP}`
}

/** With `$(NAME)` replaced, as the kubelet does it; one that comes from elsewhere must be given. */
function variablesOf(
  container: PodContainer,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const { name, value } of container.env ?? []) {
    const text = value ?? given[name]
    if (text === undefined) throw new Error(`the variable ${name} comes from elsewhere, and was not given`)
    variables[name] = text.replaceAll(/\$\((\w+)\)/g, (all, other: string) => variables[other] ?? all)
  }
  return variables
}

function mountsOf(container: PodContainer, volumes: Readonly<Record<string, string>>): readonly Mount[] {
  return (container.volumeMounts ?? []).map(({ name, mountPath, readOnly }) => {
    const from = volumes[name]
    if (from === undefined) throw new Error(`the volume ${name} was not given`)
    return { from, to: mountPath, mode: readOnly === true ? 'ro' : 'rw' }
  })
}

/** A folder as the kubelet makes it of a Secret or ConfigMap: files of root behind links, readable by the pod's group. */
export function projected(folder: string, files: Readonly<Record<string, string>>): string {
  const data = join(folder, '..2026_11_21')
  mkdirSync(data, { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(data, name), text)
    chownSync(join(data, name), 0, GROUP)
    chmodSync(join(data, name), 0o440)
    symlinkSync(join('..data', name), join(folder, name))
  }
  symlinkSync('..2026_11_21', join(folder, '..data'))
  return folder
}

/** An empty volume that the pod's group may write, as `fsGroup` makes it. */
export function emptyVolume(folder: string): string {
  mkdirSync(folder, { recursive: true })
  chownSync(folder, 0, GROUP)
  chmodSync(folder, 0o2775)
  return folder
}
