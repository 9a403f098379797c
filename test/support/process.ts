import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FAILPOINT_VARIABLE } from './failpoints.ts'
import { until } from './until.ts'

/** The program under test; TEST_MAIN names that of another checkout, to see a test fail on older code. */
export const MAIN = process.env['TEST_MAIN'] ?? fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** What `npx pipewright`, the image and the npm package start; in a checkout it is {@link MAIN}. */
export const LAUNCHER = fileURLToPath(new URL('../../bin/pipewright.js', import.meta.url))

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

const FAILPOINTS_FILE = new URL('failpoints.ts', import.meta.url).href

/** Where Node keeps what it compiled, so that each of the many processes of a run of tests need not do it again. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))

/** The real program as a child process. */
export interface Program extends AsyncDisposable {
  readonly stdout: () => string
  readonly stderr: () => string
  /** Log lines so far, parsed. */
  readonly log: () => readonly Record<string, unknown>[]
  readonly pid: number
  signal(name: NodeJS.Signals): void
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

export interface ProgramOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Another `main.ts` than that of this checkout. */
  readonly main?: string
  /** Options of Node itself. */
  readonly nodeFlags?: readonly string[]
  /** A command that becomes the program that it is given, such as `ip netns exec NAME`. */
  readonly through?: readonly string[]
}

export function startProgram(args: readonly string[], options: ProgramOptions = {}): Program {
  const hook = options.env?.[FAILPOINT_VARIABLE] === undefined ? [] : [`--import=${FAILPOINTS_FILE}`]
  const own = [process.execPath, ...(options.nodeFlags ?? []), ...hook, options.main ?? MAIN, ...args]
  const [command = '', ...words] = [...(options.through ?? []), ...own]
  const child = spawn(command, words, {
    cwd: options.cwd ?? ROOT,
    env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1', NODE_COMPILE_CACHE: COMPILED, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // A test that runs out of time never comes to its disposal.
  const killWithUs = () => child.kill('SIGKILL')
  process.once('exit', killWithUs)
  let stdout = ''
  let stderr = ''
  const lines: Record<string, unknown>[] = []
  let parsedTo = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.on('close', (code, signal) => {
      process.off('exit', killWithUs)
      resolve(code ?? signal ?? 0)
    })
  })
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    log() {
      // The last line may be half there.
      const end = stdout.lastIndexOf('\n') + 1
      for (const line of stdout.slice(parsedTo, end).split('\n'))
        if (line.startsWith('{')) lines.push(JSON.parse(line) as Record<string, unknown>)
      parsedTo = end
      return [...lines]
    },
    pid: child.pid ?? 0,
    signal(name) {
      child.kill(name)
    },
    ended,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await ended
    },
  }
}

export async function runProgram(args: readonly string[], options: ProgramOptions = {}) {
  await using program = startProgram(args, options)
  const code = await program.ended
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

export async function stop(program: Program): Promise<void> {
  program.signal('SIGTERM')
  const code = await program.ended
  if (code !== 0) throw new Error(`the program ended with ${code}`)
}

/** The daemon's own words of where it listens. */
export async function urlOf(program: Pick<Program, 'stderr' | 'log'>): Promise<string> {
  return until(`the daemon to listen\n${program.stderr()}`, () => {
    const started = program.log().find((line) => line['msg'] === 'Started' || line['message'] === 'Started')
    return typeof started?.['listen'] === 'string' ? started['listen'] : undefined
  })
}

export interface Shown {
  readonly key: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly file: string | undefined
  readonly line: number | undefined
  readonly pipeId: string | undefined
  readonly manifestRevision: string
  /** ms since the epoch. */
  readonly lastReconciledAt: number | undefined
}

/** All resources as the daemon's API shows them, page by page. */
export async function resourcesOf(url: string): Promise<readonly Shown[]> {
  const shown: Shown[] = []
  for (let page: string | undefined = `${url}/api/v1/resources`; page !== undefined;) {
    // A daemon that stands still never answers.
    const reply = await fetch(page, { signal: AbortSignal.timeout(60_000) })
    const { items, next } = (await reply.json()) as { items: readonly Shown[]; next?: string }
    shown.push(...items)
    page = next && new URL(next, page).href
  }
  return shown
}
