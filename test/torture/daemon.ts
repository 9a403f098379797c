import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { MAIN } from '../support/process.ts'
import type { Leaks } from './leaks.ts'
import type { Scene } from './scene.ts'

export type Ending = number | NodeJS.Signals

export interface Run {
  readonly number: number
  readonly pid: number
  /** ms since the epoch. */
  readonly startedAt: number
  readonly endedAt: number | undefined
  /** Where it serves; undefined until it says so. */
  readonly url: string | undefined
  readonly ending: Promise<Ending>
  readonly stderr: string
  /** Whether it said that it was started with a platform that cannot be reached. */
  readonly offline: boolean
  kill(signal: NodeJS.Signals): void
}

export interface RunnerParts {
  readonly dir: string
  readonly manifests: string
  readonly mounted: string
  readonly ledger: string
  readonly platformUrl: string
  readonly leaks: Leaks
  readonly scene: Scene
  /** A daemon says that it found a bug of its own. */
  readonly onBug: (run: number, log: string) => void
}

export interface RunOptions {
  readonly logLevel: 'info' | 'debug' | 'trace'
  /** `offline`: nobody listens where the platform should be. */
  readonly platform: 'online' | 'offline'
}

/** Nobody listens on this port of the loopback. */
const NOBODY = 'http://127.0.0.1:9'

export type Runner = ReturnType<typeof createRunner>

export function createRunner(parts: RunnerParts) {
  const { dir, manifests, mounted, ledger, leaks, scene } = parts
  const runs: Run[] = []
  const commands: { readonly from: number; readonly to: number }[] = []

  function settings(url: string): readonly string[] {
    const given = {
      manifests,
      'credentials-dir': join(mounted, 'credentials'),
      'secrets-dir': join(mounted, 'secrets'),
      ledger: `sqlite:${ledger}`,
      'base-url': url,
      'alerts-base-url': url,
      profile: scene.profile.name,
      'api-budget': `${scene.budget.count}/${scene.budget.windowMs}ms`,
      'request-timeout': '1s',
      'shutdown-grace': '4s',
      'max-creates': '100000',
      interval: '20s',
    }
    return Object.entries(given).flatMap(([flag, value]) => [`--${flag}`, value])
  }

  function launch(args: readonly string[]) {
    return spawn(process.execPath, [MAIN, ...args], {
      cwd: dir,
      env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  return {
    runs,
    /** When commands ran: ms since the epoch. */
    commands,
    start({ logLevel, platform }: RunOptions) {
      const number = runs.length + 1
      const offline = platform === 'offline'
      const url = offline ? NOBODY : parts.platformUrl
      const child = launch(['run', ...settings(url), '--listen', '127.0.0.1:0', '--log-level', logLevel])
      const file = createWriteStream(join(dir, 'logs', `run-${String(number).padStart(4, '0')}.log`))
      const scanOut = leaks.stream(`the log of run ${number}`)
      const scanErr = leaks.stream(`stderr of run ${number}`)
      let head: string | undefined = ''
      let listen: string | undefined
      let stderr = ''
      let endedAt: number | undefined
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        file.write(chunk)
        scanOut(chunk)
        if (chunk.includes('"msg":"Internal error"')) parts.onBug(number, chunk)
        if (head === undefined) return
        head += chunk
        listen = /"listen":"([^"]+)"/.exec(head)?.[1]
        if (listen !== undefined) head = undefined
      })
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        file.write(chunk)
        scanErr(chunk)
        stderr = (stderr + chunk).slice(-10_000)
      })
      const ending = new Promise<Ending>((resolve) => {
        child.on('close', (code, signal) => {
          endedAt = Date.now()
          file.end()
          resolve(code ?? signal ?? 0)
        })
      })
      const run: Run = {
        number,
        pid: child.pid ?? 0,
        startedAt: Date.now(),
        get endedAt() {
          return endedAt
        },
        get url() {
          return endedAt === undefined ? listen : undefined
        },
        get stderr() {
          return stderr
        },
        ending,
        offline,
        kill: (signal) => void child.kill(signal),
      }
      runs.push(run)
      return run
    },
    /** Runs another command beside it to its end, and looks through what it says. */
    async command(args: readonly string[]) {
      const from = Date.now()
      const local = args[0] === 'status' || args[0] === 'history' || args[0] === 'validate'
      const all = local
        ? ['--manifests', manifests, '--ledger', `sqlite:${ledger}`, '--profile', scene.profile.name]
        : settings(parts.platformUrl)
      const child = launch([...args, ...all])
      let stdout = ''
      let stderr = ''
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
      const timer = setTimeout(() => child.kill('SIGKILL'), 120_000)
      const code = await new Promise<Ending>((resolve) => {
        child.on('close', (exit, signal) => resolve(exit ?? signal ?? 0))
      })
      clearTimeout(timer)
      commands.push({ from, to: Date.now() })
      leaks.scan(`the output of pipewright ${args.join(' ')}`, stdout)
      leaks.scan(`stderr of pipewright ${args.join(' ')}`, stderr)
      return { code, stdout, stderr }
    },
  }
}
