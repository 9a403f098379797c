import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../support/until.ts'
import type { ImageConfig } from './image-buildah.ts'
import { run, tool, type Ended } from './tools.ts'

/** A folder of this machine at a place in the container. */
export interface Mount {
  readonly from: string
  readonly to: string
  readonly mode: 'ro' | 'rw'
}

export interface ContainerOptions {
  /** The laid out image. */
  readonly root: string
  readonly config: ImageConfig
  /** Instead of the image's `Cmd`. */
  readonly command?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly mounts: readonly Mount[]
  /** Whose network it shares, as the containers of a pod do; by itself it has one of its own. */
  readonly network?: Container
}

/** What a container runtime makes of an image: its first process, alone in its namespaces. */
export interface Container extends AsyncDisposable {
  readonly stdout: () => string
  readonly stderr: () => string
  readonly ended: Promise<number>
  /** Runs a program of the image beside the first one, as the same user. @param stdin a file of this machine */
  exec(command: readonly string[], stdin?: string): Promise<Ended>
  signal(name: NodeJS.Signals): Promise<void>
  /** The first process, as this machine counts. */
  pid(): Promise<number>
  /** `/proc/<pid>/status` of the first process. */
  status(): Promise<Readonly<Record<string, string>>>
}

/** Drops everything that a process of Pod Security's "restricted" level may not have. */
const DROP = ['--clear-groups', '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'].concat(
  '--no-new-privs',
)

/**
 * Starts an image with a read-only root, no capabilities and no way to get any, in namespaces of its own: it is process 1
 * there, and has no network but loopback.
 */
export async function startContainer(options: ContainerOptions): Promise<Container> {
  const { root, config, command, env = {}, mounts, network } = options
  const [user = '', group = ''] = config.User.split(':')
  for (const { to } of mounts) mkdirSync(join(root, to), { recursive: true })
  const asUser = ['setpriv', `--reuid=${user}`, `--regid=${group}`, ...DROP]
  const variables = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
  const inside = (words: readonly string[]) =>
    [tool('unshare'), `--root=${root}`, `--wd=${config.WorkingDir}`]
      .concat('/usr/bin/env', '-i', ...variables, '/usr/bin/env', ...asUser)
      .concat(words)
  const script = [
    ...(network === undefined ? [`${tool('ip')} link set lo up`] : []),
    `mount --bind ${root} ${root}`,
    `mount -t proc proc ${root}/proc`,
    ...mounts.flatMap(({ from, to, mode }) => [
      `mount --bind ${from} ${root}${to}`,
      ...(mode === 'ro' ? [`mount -o remount,bind,ro ${root}${to}`] : []),
    ]),
    `mount -o remount,bind,ro ${root}`,
    'exec "$@"',
  ].join('\n')
  const words = [...config.Entrypoint, ...(command ?? config.Cmd)]
  const place = ['--mount', '--pid', '--fork', 'sh', '-euc', script, 'sh', ...inside(words)]
  const [program, ...args] =
    network === undefined
      ? [tool('unshare'), '--net', ...place]
      : [tool('nsenter'), '--target', String(await network.pid()), '--net', tool('unshare'), ...place]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)))
  const itsEnd = ended.then<never>((code) => {
    throw new Error(`the container ended with ${code}: ${stderr}\n${stdout.slice(-4_000)}`)
  })
  itsEnd.catch(() => undefined)
  const first = () => {
    const found = until('the first process of the container', () => {
      if (child.exitCode !== null || child.signalCode !== null) return -1
      const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
      return /^\d+$/.test(children) ? Number(children) : undefined
    })
    return found.then((pid) => (pid === -1 ? itsEnd : pid))
  }
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    pid: first,
    async exec(command_, stdin = '/dev/null') {
      const target = ['--target', String(await first()), '--mount', '--net', '--pid']
      const entering = [tool('nsenter'), ...target, ...inside(command_)]
      return run('sh', ['-c', 'input=$1; shift; exec "$@" < "$input"', 'sh', stdin, ...entering])
    },
    async signal(name) {
      process.kill(await first(), name)
    },
    async status() {
      const lines = readFileSync(`/proc/${await first()}/status`, 'utf8')
        .trim()
        .split('\n')
      return Object.fromEntries(lines.map((line) => line.split(':\t') as [string, string])) // "Name:\tvalue"
    },
    async [Symbol.asyncDispose]() {
      // The end of process 1 is the end of its namespace. It has another user by now, and so outlives its parent.
      if (child.exitCode === null) process.kill(await first(), 'SIGKILL')
      await ended
    },
  }
}
