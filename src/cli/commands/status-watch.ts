import { sleep } from '../../lib/clock.ts'
import { EXIT, type ExitCode, type Io, print } from '../io.ts'
import { plainText } from '../render/terminal.ts'
import type { StatusReading } from '../reading.ts'
import { NoAnswerError } from '../server-client.ts'

const WATCH_MS = 2_000
const CLEAR = '\u001b[H\u001b[2J\u001b[3J'

interface Watched<Reading extends StatusReading> {
  readonly read: () => Promise<Reading>
  /** True on a terminal: redraws the status. False: prints it again after a change. */
  readonly inPlace: boolean
  readonly show: (reading: Reading) => void
}

/** Repeats the status until an interrupt, or until the output is closed. */
export async function watch<Reading extends StatusReading>(
  io: Io,
  { read, inPlace, show }: Watched<Reading>,
): Promise<ExitCode> {
  const { stopping } = io.stop
  // Aborted if the program that reads the output has ended, such as `head`.
  const closed = new AbortController()
  io.stdout.once('error', () => closed.abort())
  const ended = AbortSignal.any([stopping, closed.signal])
  let before: string | undefined
  let silence: string | undefined
  while (!ended.aborted) {
    const reading = await read().catch((error: unknown) => {
      if (stopping.aborted) return 'stopped'
      // Without an earlier reading, the address is probably wrong. After one, the daemon might be restarting.
      if (!(error instanceof NoAnswerError) || before === undefined) throw error
      return error.message
    })
    if (ended.aborted) break
    if (inPlace) io.stdout.write(CLEAR)
    if (typeof reading === 'string') {
      if (inPlace || silence === undefined) print(io.stdout, plainText(reading))
      silence = reading
    } else {
      const facts = factsOf(reading)
      if (silence !== undefined && !inPlace) print(io.stdout, 'The daemon answers again.')
      if (inPlace || facts !== before) show(reading)
      silence = undefined
      before = facts
    }
    await sleep(io.clock, WATCH_MS, ended).catch(() => undefined)
  }
  return EXIT.fine
}

/** If this text changes, the status is printed again. Omits times of checks, because each check changes them. */
function factsOf({ daemon, whole: { problem, errors = 0 }, resources }: StatusReading): string {
  const said = resources.map(({ key, status, reason, message }) => [key, status, reason, message])
  return JSON.stringify([daemon.state, daemon.last?.startedAt, problem, errors, said])
}
