import { PassThrough } from 'node:stream'
import { runCommand } from '../../../src/cli/program.ts'
import type { Program, ProgramOptions } from '../../support/process.ts'
import { startProgram } from '../../support/process.ts'

/** The process that comes after one that failed, as far as a test needs it. */
export interface Successor extends AsyncDisposable {
  readonly stdout: Program['stdout']
  readonly stderr: Program['stderr']
  readonly log: Program['log']
  signal(name: 'SIGTERM' | 'SIGHUP' | 'SIGKILL'): void
  readonly ended: Promise<number | NodeJS.Signals>
}

/** Where it runs: as a child, or in this process, which spares the start and is the same program but for `main.ts`. */
export type SuccessorPlace = 'child' | 'here'

export function startSuccessor(
  where: SuccessorPlace,
  args: readonly string[],
  options: ProgramOptions,
): Successor {
  return where === 'child' ? startProgram(args, options) : startHere(args)
}

function startHere(args: readonly string[]): Successor {
  const stdout = collect()
  const stderr = collect()
  const stopping = new AbortController()
  const forced = new AbortController()
  const hangups: (() => void)[] = []
  const ended = runCommand(
    {
      stdout: stdout.stream,
      stderr: stderr.stream,
      env: {},
      stop: {
        stopping: stopping.signal,
        forced: forced.signal,
        onHangup: (listener) => void hangups.push(listener),
      },
    },
    args,
  )
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    log: () =>
      stdout
        .text()
        .split('\n')
        .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [])),
    signal(name) {
      if (name !== 'SIGHUP') stopping.abort(name)
      if (name === 'SIGKILL') forced.abort(name)
      if (name === 'SIGHUP') for (const listener of hangups) listener()
    },
    ended,
    async [Symbol.asyncDispose]() {
      stopping.abort('SIGTERM')
      forced.abort('SIGTERM')
      await ended.catch(() => undefined)
    },
  }
}

function collect() {
  const stream = new PassThrough()
  let text = ''
  stream.setEncoding('utf8').on('data', (more: string) => {
    text += more
  })
  return { stream, text: () => text }
}
