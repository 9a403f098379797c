import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCommand } from '../../src/cli/commands.ts'
import { systemClock } from '../../src/daemon/system-clock.ts'

export interface Ended {
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end within this process. */
export async function runHere(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  /** `stopping`: stops it as SIGTERM does. */
  { stopping = new AbortController().signal, clock = systemClock } = {},
): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const texts = Promise.all([text(stdout), text(stderr)])
  const never = new AbortController().signal
  const stop = { stopping, forced: never, onHangup: () => undefined }
  const code = await runCommand({ stdout, stderr, env, clock, stop }, args)
  stdout.end()
  stderr.end()
  const [out, err] = await texts
  return { code, stdout: out, stderr: err }
}
