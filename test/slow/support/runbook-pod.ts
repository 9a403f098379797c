import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import {
  CREDENTIAL,
  KAFKA_PASSWORD,
  ORGANIZATION,
  pipeManifest,
  SERVICE,
  SERVICE_ID,
} from '../../support/manifests.ts'
import { until } from '../../support/until.ts'
import { podsIn, renderValues, type PodSpec } from './chart.ts'
import { emptyVolume, projected, startFromPod } from './chart-pod.ts'
import { startContainer, type Container } from './image-container.ts'
import type { ImageRoot } from './image-root.ts'

/** Values as docs/tutorials/kubernetes.md has them, but for where the platform answers, and for how much it lets one ask. */
const VALUES = {
  image: { repository: 'registry.example.com/pipewright' },
  platform: { baseUrl: 'http://127.0.0.1:9000' },
  source: { path: 'ingestion/prod', git: { repository: 'https://git.example.com/data/pipes.git' } },
  credentials: [{ name: 'analytics-api' }],
  secrets: [{ name: 'kafka' }],
  adminToken: { secretName: 'pipewright-admin' },
  settings: { 'api-budget': '1000/1s' },
}

/** The pod of the chart, in the root of the image, with a platform beside it and a checkout as git-sync makes it. */
export interface PodWorld extends AsyncDisposable {
  readonly pod: PodSpec
  /** The folder that is mounted as the claim of the ledger. */
  readonly ledger: string
  /** Swaps the checkout for one with these pipes, each with what its manifest has besides. @returns the name of the commit */
  commit(pipes: Readonly<Record<string, string>>, files?: Readonly<Record<string, string>>): string
  /** @param root of another image than that of the world */
  startDaemon(pod?: PodSpec, root?: string): Promise<Container>
  /** The same pod in diagnostic mode: nothing runs in it but what waits. */
  startDiagnostic(): Promise<Container>
  /** Starts a pod that may end at once. */
  startOther(pod: PodSpec, root?: string): Promise<Container>
  /** What the chart makes of these values, on top of those that are always there. */
  podWith(values: object): Promise<PodSpec>
  /** Starts another pod that mounts the claim, and waits for commands. */
  startWaiting(pod: PodSpec): Promise<Container>
  /** Puts another `keySecret` into the mounted Secret. */
  mountKey(keySecret: string): void
  /** Asks the platform what it has, or has it misbehave. */
  ask<T>(path: string, body?: object): Promise<T>
  pipeId(name: string): Promise<string>
  creates(): Promise<number>
}

interface PlatformState {
  readonly pipes: readonly { readonly id: string; readonly name: string }[]
  readonly requests: readonly { readonly operation: string }[]
}

/** @param folder for its volumes @param values on top of those that are always there */
export async function startPodWorld(
  image: ImageRoot,
  folder: string,
  values: object = {},
): Promise<PodWorld> {
  await using stack = new AsyncDisposableStack()
  const place = mkdtempSync(join(folder, 'pod-'))
  chmodSync(place, 0o755)
  const pod = await podOf(place, { ...VALUES, ...values })
  const diagnostic = await podOf(place, { ...VALUES, ...values, diagnosticMode: true })
  const ledger = emptyVolume(join(place, 'ledger'))
  const volumes = {
    ledger,
    git: emptyVolume(join(place, 'checkout')),
    'git-tmp': emptyVolume(join(place, 'git-tmp')),
    'credential-analytics-api': projected(join(place, 'credential'), CREDENTIAL),
    'secret-kafka': projected(join(place, 'kafka'), { password: KAFKA_PASSWORD }),
    'admin-token': projected(join(place, 'admin'), { token: randomBytes(24).toString('hex') }),
  }
  const platform = stack.use(await startPlatform(image, place))
  const containers = stack.use(new AsyncDisposableStack())
  const start = async (spec: PodSpec, root = image.root) =>
    containers.use(
      await startFromPod({
        root,
        image: image.config,
        pod: spec,
        volumes,
        name: 'pipewright',
        network: platform,
      }),
    )
  const ask: PodWorld['ask'] = async <T>(path: string, body?: object) => {
    const options =
      body === undefined
        ? '{}'
        : `{method: 'POST', headers: {'content-type': 'application/json'}, body: ${JSON.stringify(JSON.stringify(body))}}`
    const script = `fetch('http://127.0.0.1:9000${path}', ${options}).then(async (reply) => { console.log(await reply.text()) })`
    const { stdout, stderr } = await platform.exec(['node', '-e', script])
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout) as T // what our own sandbox answers
  }
  const state = () => ask<PlatformState>('/-/sandbox/state')
  const kept = stack.move()
  return {
    pod,
    ledger,
    commit: (pipes, files = {}) => swapCheckout(volumes.git, pipes, files),
    async startDaemon(spec = pod, root = image.root) {
      const daemon = await start(spec, root)
      await until(`the daemon to start\n${daemon.stderr()}`, () => daemon.stdout().includes('"Started"'))
      return daemon
    },
    startDiagnostic: async () => inPlace(await start(diagnostic)),
    startOther: start,
    podWith: (more) => podOf(place, { ...VALUES, ...more }),
    startWaiting: async (spec) => inPlace(await start(spec)),
    mountKey: (keySecret) =>
      writeFileSync(join(volumes['credential-analytics-api'], '..data/keySecret'), keySecret),
    ask,
    pipeId: async (name) =>
      (await state()).pipes.find((pipe) => pipe.name === name)?.id ?? `there is no pipe ${name}`,
    creates: async () =>
      (await state()).requests.filter(({ operation }) => operation === 'createPipe').length,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Whoever enters before the first process is there, finds the volumes not mounted yet. */
async function inPlace(container: Container): Promise<Container> {
  await until('the first process to be that of the pod', async () =>
    /^(?:node|sleep)/.test((await container.status())['Name'] ?? ''),
  )
  return container
}

async function podOf(place: string, values: object): Promise<PodSpec> {
  const [pod] = podsIn(await renderValues(place, values))
  if (pod === undefined) throw new Error('no pod was rendered')
  return pod
}

/** As git-sync does it: a new tree beside the old one, and a link that is swapped. */
function swapCheckout(
  root: string,
  pipes: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): string {
  const commit = randomBytes(20).toString('hex')
  const tree = join(root, '.worktrees', commit)
  const folder = join(tree, 'ingestion/prod')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'service.yaml'), SERVICE)
  for (const [name, more] of Object.entries(pipes))
    writeFileSync(join(folder, `${name}.yaml`), pipeManifest(name, { more }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  symlinkSync(join('.worktrees', commit), join(root, 'next'))
  renameSync(join(root, 'next'), join(root, 'current'))
  return commit
}

async function startPlatform({ root, config }: ImageRoot, place: string): Promise<Container> {
  const folder = join(place, 'world')
  mkdirSync(folder)
  writeFileSync(
    join(folder, 'world.yaml'),
    stringify({ services: [{ organizationId: ORGANIZATION, serviceId: SERVICE_ID }] }),
  )
  const login = ['--key-id', CREDENTIAL.keyId, '--key-secret', CREDENTIAL.keySecret]
  const platform = await startContainer({
    root,
    config,
    command: ['sandbox', '--listen', '127.0.0.1:9000', ...login, '--world', '/tmp/world.yaml'],
    mounts: [{ from: folder, to: '/tmp', mode: 'ro' }],
  })
  await until('the platform to listen', () => platform.stdout().includes('listens on'), 60_000)
  return platform
}
