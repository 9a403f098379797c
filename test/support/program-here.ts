import { PassThrough } from 'node:stream'
import { runCommand } from '../../src/cli/commands.ts'
import { systemClock } from '../../src/daemon/system-clock.ts'
import type { Program } from './process.ts'

/** Starts the program in this process: all of it but `main.ts`. */
export function startHere(args: readonly string[], clock = systemClock): Program {
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
      clock,
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
    pid: process.pid,
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
