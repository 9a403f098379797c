#!/usr/bin/env node
import { EXIT } from './cli/io.ts'
import { runCommand } from './cli/program.ts'

/* The process: arguments, signals, exit code. */

/** For what is still in the pipe of the log: ms. */
const LAST_LINES_MS = 2_000

const stopping = new AbortController()
const forced = new AbortController()
const hangups: (() => void)[] = []

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) forced.abort(signal)
    else stopping.abort(signal)
  })
}
process.on('SIGHUP', () => {
  for (const listener of hangups) listener()
})

// A pipe that was closed by its reader (`pipewright history | head`) is no fault of anyone. What else keeps an output from being
// written, such as a full disk, fails a command at its end, and no daemon.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') unwritten ??= error
  })
}
let unwritten: Error | undefined
process.on('exit', () => {
  if (unwritten === undefined || stopping.signal.aborted || process.exitCode !== EXIT.fine) return
  process.exitCode = EXIT.failed
  process.stderr.write(`pipewright: the output could not be written: ${unwritten.message}\n`)
})

// The clock's timers do not keep the process alive: a command that waits, for the request budget say, would end there.
const alive = setInterval(() => undefined, 2 ** 30)
try {
  process.exitCode = await runCommand(
    {
      stdout: process.stdout,
      stderr: process.stderr,
      env: process.env,
      stop: {
        stopping: stopping.signal,
        forced: forced.signal,
        onHangup(listener) {
          hangups.push(listener)
        },
      },
    },
    process.argv.slice(2),
  )
} catch (error) {
  process.stderr.write(
    `pipewright: internal error, please report it:\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  )
  process.exitCode = EXIT.bug
} finally {
  clearInterval(alive)
}

// A reader of the log that has stopped keeps no process that was told to end.
if (stopping.signal.aborted) setTimeout(() => process.exit(), LAST_LINES_MS).unref()

// A create that was cut short by the stop would keep the process for its own time; its outcome has no ledger any more.
if (stopping.signal.aborted && process.exitCode !== EXIT.fine) {
  process.stdout.write('', () => process.exit())
}
