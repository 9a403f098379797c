#!/usr/bin/env node
import { EXIT } from './cli/io.ts'
import { runCommand } from './cli/commands.ts'
import { systemClock } from './daemon/system-clock.ts'

/** Longest wait for a reader of the last log lines: ms. */
const LAST_LINES_MS = 2_000

const stopping = new AbortController()
const forced = new AbortController()
const hangups: (() => void)[] = []

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) {
      forced.abort(signal)
      // Kills the process, because a file system call that hangs would block `process.exit`.
      setTimeout(() => process.removeAllListeners(signal).kill(process.pid, signal), LAST_LINES_MS).unref()
    } else stopping.abort(signal)
  })
}
process.on('SIGHUP', () => {
  for (const listener of hangups) listener()
})

// A closed pipe (`pipewright history | head`) is no error. Other output errors, such as a full disk, fail a
// command, but not the daemon.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') unwritten ??= error
  })
}
let unwritten: Error | undefined
process.on('exit', () => {
  if (unwritten === undefined || stopping.signal.aborted) return
  if (process.exitCode !== EXIT.bug) process.exitCode = EXIT.failed
  process.stderr.write(`pipewright: the output could not be written: ${unwritten.message}\n`)
})

// Timers of the clock do not keep the process alive, so a command that waits would end.
const alive = setInterval(() => undefined, 2 ** 30)
try {
  process.exitCode = await runCommand(
    {
      stdout: process.stdout,
      stderr: process.stderr,
      env: process.env,
      clock: systemClock,
      stop: {
        stopping: stopping.signal,
        forced: forced.signal,
        onHangup: (listener) => void hangups.push(listener),
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

// A log reader that hangs must not keep a stopped process alive.
if (stopping.signal.aborted) setTimeout(() => process.exit(), LAST_LINES_MS).unref()

// An interrupted create would keep the process alive, although the ledger is closed.
if (stopping.signal.aborted && process.exitCode !== EXIT.fine) {
  process.stdout.write('', () => process.exit())
}
