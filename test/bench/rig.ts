import { spawn } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { layOutBundle } from '../support/bundle.ts'
import { type Program, startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { writeTree } from './tree.ts'

/** What the platform's process saw. Times are ms of the monotonic clock that all processes share. */
export interface PlatformSaw {
  readonly gets: number
  readonly posts: number
  readonly refused: number
  readonly firstAt: number
  readonly lastAt: number
  readonly pipes: number
  /** Paths that were read, and how often the one that was read most often. */
  readonly different: number
  readonly mostOfOne: number
  readonly arrivals: Readonly<Record<string, readonly number[]>>
  readonly times: readonly number[]
  readonly paths: readonly string[]
  /** Ids of pipes, by name. */
  readonly ids: Readonly<Record<string, string>>
}

/** A daemon of the real program, with a probe in it. */
export interface BenchDaemon extends AsyncDisposable {
  readonly program: Program
  readonly url: string
  /** CPU time that it used between two moments, ms; only after it has ended. */
  cpuBetween(fromMs: number, toMs: number): number
  /** What it holds, in MB: as the system sees it, and the heap after a collection. */
  memory(): Promise<{ readonly rss: number; readonly heap: number }>
}

interface DaemonOptions {
  /** Another directory than that of the rig. */
  readonly manifests?: string
  /** `none`: a first run. */
  readonly ledger?: 'settled' | 'none'
  /** `none`: the program as it is, and nothing can be asked of it. */
  readonly probe?: 'none'
}

/** Everything that the rows of one size share: the directory, the platform, and a ledger in which all is settled. */
export type Rig = Awaited<ReturnType<typeof createRig>>

const PLATFORM_MAIN = fileURLToPath(new URL('platform-main.ts', import.meta.url))
const PROBE = fileURLToPath(new URL('probe.ts', import.meta.url))
/** Between two questions to the platform's process. */
const LOOK_MS = 150
/** For a collection and a file of one line. */
const PROBE_MS = 1_000
/** A machine that is busy with other things answers late. */
const ANSWER_MS = 60_000
/** What the Dockerfile sets. */
const IMAGE_ENV = { MALLOC_ARENA_MAX: '1' }
const LONGEST_WAIT_MS = 600_000
/** No limit to speak of. */
export const UNLIMITED = '100000/1s'

export function now(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}

export async function startPlatform() {
  const child = spawn(process.execPath, [PLATFORM_MAIN], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the platform ended with ${code}`)))
    child.stdout?.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()))
  })
  const ask = async (path: string, body: unknown) => {
    const reply = await fetch(`${url}/control/${path}`, { method: 'POST', body: JSON.stringify(body) })
    return (await reply.json()) as PlatformSaw
  }
  return {
    url,
    saw: (more?: 'times' | 'paths' | 'ids') => ask(more ?? 'saw', {}),
    /** Asks now and then, seldom enough not to be felt, until it saw what is waited for. */
    async untilSaw(what: string, enough: (saw: PlatformSaw) => boolean) {
      const end = now() + LONGEST_WAIT_MS
      for (let saw = await ask('saw', {}); ; saw = await ask('saw', {})) {
        if (enough(saw)) return saw
        if (now() > end) throw new Error(`waited in vain for ${what}: ${JSON.stringify(saw)}`)
        await setTimeout(LOOK_MS)
      }
    },
    /** Forgets what it saw, and from now on behaves like this. */
    async reset(
      options: {
        readonly latencyMs?: number
        readonly limit?: { readonly requests: number; readonly windowMs: number }
        readonly watch?: readonly string[]
      } = {},
    ) {
      await ask('reset', options)
    },
    [Symbol.dispose]() {
      child.kill('SIGKILL')
    },
  }
}

export async function createRig(size: number) {
  await using stack = new AsyncDisposableStack()
  const work = stack.adopt(mkdtempSync(join(tmpdir(), 'pipewright-bench-')), remove)
  // Made where nothing waits for a disk: the making is not measured.
  const quick = stack.adopt(
    mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'pipewright-bench-')),
    remove,
  )
  const tree = writeTree(join(work, 'manifests'), join(work, 'mounted'), size)
  const platform = stack.use(await startPlatform())
  const command = await layOutBundle(join(work, 'program'))
  const settled = join(quick, 'ledger.db')
  let daemons = 0

  function settingsOf(ledger: string, manifests = tree.dir): readonly string[] {
    return Object.entries({
      manifests,
      'credentials-dir': join(tree.mounted, 'credentials'),
      'secrets-dir': join(tree.mounted, 'secrets'),
      ledger: `sqlite:${ledger}`,
      'base-url': platform.url,
      'alerts-base-url': platform.url,
    }).flatMap(([name, value]) => [`--${name}`, value])
  }

  /** A place for a ledger on a real disk, with a copy of the settled one unless a first run is asked for. */
  function placeLedger(kind: DaemonOptions['ledger']): string {
    const ledger = join(mkdtempSync(join(work, 'ledger-')), 'ledger.db')
    if (kind !== 'none') copyFileSync(settled, ledger)
    return ledger
  }

  async function start(
    ledger: string,
    more: readonly string[],
    { manifests = tree.dir, probe: wanted }: DaemonOptions = {},
  ): Promise<BenchDaemon> {
    daemons += 1
    const probe = join(work, `probe${daemons}`)
    const args = ['run', ...settingsOf(ledger, manifests), '--listen', '127.0.0.1:0', ...more]
    const program = startProgram(args, {
      main: command,
      nodeFlags: wanted === 'none' ? [] : ['--expose-gc', '--import', PROBE],
      env: { ...IMAGE_ENV, BENCH_PROBE: probe },
    })
    const url = await urlOf(program)
    return {
      program,
      url,
      cpuBetween(fromMs, toMs) {
        const samples = JSON.parse(readFileSync(`${probe}.cpu`, 'utf8')) as readonly (readonly [
          number,
          number,
        ])[]
        const at = (when: number) => samples.findLast(([time]) => time <= when)?.[1] ?? 0
        return at(toMs) - at(fromMs)
      },
      async memory() {
        rmSync(`${probe}.memory`, { force: true })
        const answered = async () => {
          program.signal('SIGUSR2')
          await setTimeout(PROBE_MS)
          const said = existsSync(`${probe}.memory`) ? readFileSync(`${probe}.memory`, 'utf8') : ''
          return said.endsWith('}') ? said : undefined
        }
        const text = await until('the probe to answer', answered, ANSWER_MS).catch((cause: unknown) => {
          const stat = `/proc/${program.pid}/stat`
          const state = existsSync(stat) ? readFileSync(stat, 'utf8') : 'it has ended\n'
          const said = `${program.stdout().slice(-1_000)}${program.stderr()}`
          throw new Error(`the daemon does not answer: ${state}${said}`, { cause })
        })
        const { before, heapUsed, external } = JSON.parse(text) as {
          before: number
          heapUsed: number
          external: number
        }
        return { rss: before / 2 ** 20, heap: (heapUsed + external) / 2 ** 20 }
      },
      async [Symbol.asyncDispose]() {
        program.signal('SIGTERM')
        await program.ended
        await program[Symbol.asyncDispose]()
      },
    }
  }

  {
    await using daemon = await start(settled, ['--api-budget', UNLIMITED, '--max-creates', '100000'])
    await platform.untilSaw(`${tree.pipes} pipes to be created`, (saw) => saw.pipes === tree.pipes)
    await until('everything to be ready', () => isSettled(daemon.url, size), 60_000 + size * 20)
  }
  await platform.reset()
  {
    await using daemon = await start(settled, ['--api-budget', UNLIMITED])
    const wanted = tree.pipes + tree.alerts
    await platform.untilSaw('every pipe and alert to be read', (saw) => saw.gets >= wanted)
    void daemon
  }
  const { paths } = await platform.saw('paths')
  const { ids } = await platform.saw('ids')
  const byId = new Map(paths.map((path) => [path.slice(path.lastIndexOf('/') + 1), path]))
  const resources = stack.move()
  return {
    size,
    tree,
    platform,
    work,
    /** Paths of all reads of a full pass. */
    paths,
    pathOf: (pipe: number) => byId.get(ids[`pipe-${pipe}`] ?? '') ?? '',
    /** The program as the image has it. */
    command,
    /** Settings of a command, with a ledger of its own on a real disk. */
    settings: ({ ledger, manifests }: Pick<DaemonOptions, 'manifests' | 'ledger'> = {}) =>
      settingsOf(placeLedger(ledger), manifests),
    /** Starts the daemon with a copy of the settled ledger, on a real disk. */
    daemon: (more: readonly string[], options: DaemonOptions = {}) =>
      start(placeLedger(options.ledger), more, options),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

async function isSettled(url: string, size: number): Promise<boolean> {
  await setTimeout(LOOK_MS)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  let ready = 0
  for (const [, count] of metrics.matchAll(/^pipewright_resources\{[^}]*status="Ready"[^}]*\} (\d+)/gm))
    ready += Number(count)
  return ready === size
}

function remove(dir: string): void {
  rmSync(dir, { recursive: true, force: true })
}

export function basicAuthorization(): string {
  return `Basic ${Buffer.from('bench-key:bench-secret').toString('base64')}`
}

/** A directory with one Service and nothing else: what an empty daemon watches. */
export function emptyManifests(rig: Rig): string {
  const dir = join(rig.work, 'empty')
  mkdirSync(dir, { recursive: true })
  copyFileSync(join(rig.tree.dir, 'platform/services.yaml'), join(dir, 'services.yaml'))
  const text = readFileSync(join(dir, 'services.yaml'), 'utf8').split('---\n')[0] ?? ''
  writeFileSync(join(dir, 'services.yaml'), text)
  return dir
}
