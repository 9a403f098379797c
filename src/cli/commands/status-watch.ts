import { setTimeout } from 'node:timers/promises'
import type { Key } from '../../kinds/key.ts'
import { EXIT, type ExitCode, type Io, print } from '../io.ts'
import { commandsTyped } from '../../server/command-line.ts'
import { daemonLine } from '../render/status-text.ts'
import { printable } from '../render/terminal.ts'
import type { ShownResource } from '../../server/shown-resource.ts'
import type { StatusReading } from '../reading.ts'
import { NoAnswerError } from '../server-client.ts'
import { wholeSentences } from '../whole-facts.ts'

const WATCH_MS = 2_000
const CLEAR = '\u001b[H\u001b[2J\u001b[3J'

interface Watched<Reading extends StatusReading> {
  readonly read: () => Promise<Reading>
  /** On a terminal, redraws. Elsewhere, prints one line per change after a first full print. */
  readonly inPlace: boolean
  readonly show: (reading: Reading) => void
}

/** Until an interrupt or a closed pipe. */
export async function watch<Reading extends StatusReading>(
  io: Io,
  { read, inPlace, show }: Watched<Reading>,
): Promise<ExitCode> {
  const { stopping } = io.stop
  // `| head` has ended.
  const closed = new AbortController()
  io.stdout.once('error', () => closed.abort())
  const ended = AbortSignal.any([stopping, closed.signal])
  let before: StatusReading | undefined
  let silence: string | undefined
  while (!ended.aborted) {
    const reading = await read().catch((error: unknown) => {
      if (stopping.aborted) return 'stopped'
      // A known daemon might restart; an unknown one is a wrong address.
      if (!(error instanceof NoAnswerError) || before === undefined) throw error
      return error.message
    })
    if (ended.aborted) break
    if (inPlace) io.stdout.write(CLEAR)
    if (typeof reading === 'string') {
      if (inPlace || silence === undefined) print(io.stdout, printable(reading))
      silence = reading
    } else {
      if (inPlace || before === undefined) show(reading)
      else for (const line of changesSince(before, reading, io.clock.now())) print(io.stdout, line)
      if (silence !== undefined && !inPlace) print(io.stdout, 'The daemon answers again.')
      silence = undefined
      before = reading
    }
    await setTimeout(WATCH_MS, undefined, { signal: ended }).catch(() => undefined)
  }
  return EXIT.fine
}

function changesSince(before: StatusReading, now: StatusReading, at: number): readonly string[] {
  const time = new Date(at).toISOString()
  const known = new Map(before.resources.map((resource) => [resource.key, stateOf(resource)]))
  const there = new Set<Key>(now.resources.map(({ key }) => key))
  return [
    ...(before.daemon.state === now.daemon.state &&
    before.daemon.last?.startedAt === now.daemon.last?.startedAt
      ? []
      : [`${time}  daemon  ${daemonLine(now.daemon, { now: now.now, paint: (_style, text) => text })}`]),
    ...wholeChanges(before, now).map((sentence) => `${time}  manifests  ${sentence}`),
    ...now.resources
      .filter((resource) => known.get(resource.key) !== stateOf(resource))
      .map((resource) => `${time}  ${resource.key}  ${stateOf(resource)}`),
    ...[...known.keys()].filter((key) => !there.has(key)).map((key) => `${time}  ${key}  forgotten`),
  ].map(printable)
}

/** Without the count of overdue checks: each check changes it. */
function wholeChanges(
  { whole: before }: StatusReading,
  { whole: now, here }: StatusReading,
): readonly string[] {
  const { problem, errors } = now
  if (before.problem === problem && (before.errors ?? 0) === (errors ?? 0)) return []
  const sentences = wholeSentences({ problem, errors })
  return sentences.length === 0
    ? ['Accepted, and without errors.']
    : sentences.map((sentence) => commandsTyped(sentence, here))
}

function stateOf({ status: word, reason, message }: ShownResource): string {
  return `${word} ${reason}: ${message}`
}
