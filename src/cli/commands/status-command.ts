import type { Settings } from '../../config/settings.ts'
import { sleep } from '../../lib/clock.ts'
import { escapeControls } from '../../lib/shown-text.ts'
import { isWell } from '../../plan/severity.ts'
import { placeOf } from '../../plan/step.ts'
import type { NextStep, ShownResource } from '../../server/shown-resource.ts'
import { folderOf, didYouMean, typedKey } from '../command-context.ts'
import { createSource } from '../../manifest/source.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { isTerminal, plainText, sheetOf } from '../render/terminal.ts'
import { NOTHING_RECORDED, statusDetails, statusText } from '../render/status-text.ts'
import { assertNoFilter, filterWords, passes, type ResourceFilter } from '../resource-filter.ts'
import { openReader, type StatusReading } from '../reading.ts'
import { wholeSentences } from '../daemon-summary.ts'
import { NoAnswerError } from '../server-client.ts'

interface StatusOptions extends ResourceFilter {
  readonly key: string | undefined
  readonly output: 'text' | 'wide' | 'name' | 'json'
  readonly watch?: true
}

export async function status(
  io: Io,
  settings: Settings,
  flags: Omit<StatusOptions, 'key'>,
  word?: string,
): Promise<ExitCode> {
  assertNoFilter(word, flags)
  const options = { ...flags, key: word && (typedKey(word) ?? word) }
  const read = async (): Promise<Chosen> => {
    await using reader = await openReader(io, settings, { command: 'status', isAgain: flags.watch === true })
    const all = await reader.status()
    const { key } = options
    if (settings.server === undefined && key !== undefined && !all.resources.some((view) => view.key === key))
      await assertNoManifest(io, settings, key)
    const reading = chosen(all, options)
    const [only] = reading.resources
    if (key === undefined || only === undefined) return reading
    const { cause, next } = await reader.details(only.key)
    return { ...reading, cause, next }
  }
  if (flags.watch === true) {
    const inPlace = isTerminal(io.stdout) && (options.output === 'text' || options.output === 'wide')
    return watch(io, { read, inPlace, show: (reading) => show(io, settings, reading, options) })
  }
  const reading = await read()
  show(io, settings, reading, options)
  return exitOf(reading)
}

/** Fails if the daemon is dead or silent, because the status is then old. */
function exitOf({ daemon, whole, resources }: StatusReading): ExitCode {
  const isOld = daemon.state === 'died' || daemon.state === 'silent'
  return !isOld && wholeSentences(whole, {}).length === 0 && resources.every(isWell) ? EXIT.fine : EXIT.failed
}

interface Chosen extends StatusReading {
  readonly nothing: string
  readonly cause?: string
  readonly next: readonly NextStep[]
}

function chosen(reading: StatusReading, { key, ...filter }: StatusOptions): Chosen {
  const { resources } = reading
  if (key !== undefined) {
    // Errors of other resources must not affect the exit code.
    const { problem } = reading.whole
    return {
      ...reading,
      whole: { problem },
      next: [],
      nothing: NOTHING_RECORDED,
      resources: [viewNamed(resources, key)],
    }
  }
  return {
    ...reading,
    next: [],
    nothing: resources.length === 0 ? NOTHING_RECORDED : `No resource matches ${filterWords(filter)}.`,
    resources: resources.filter((resource) => {
      const { reason, conditions, since: at } = resource
      const reasons = [reason, ...Object.values(conditions).map((condition) => condition.reason)]
      return passes({ ...resource, reasons, at }, filter)
    }),
  }
}

/** @throws {CommandError} if the key has a manifest but no record yet */
async function assertNoManifest(io: Io, settings: Settings, key: string): Promise<void> {
  const { profile, manifests } = settings
  const source = createSource({ profile, root: manifests })
  const { state } = await source.load(new Map(), { accept: 'normal' }, io.stop.stopping)
  const entry = [...state.catalog.entries.values()].find((one) => one.key === key)
  if (entry === undefined) return
  const { file, line } = entry.position
  const place = placeOf(folderOf(manifests), file, line)
  const problem = entry.state === 'valid' ? '' : ' It has errors: see "pipewright validate".'
  throw new CommandError(`${key} was not reconciled yet. Its manifest: ${place}.${problem}`)
}

function viewNamed(resources: readonly ShownResource[], key: string): ShownResource {
  const found = resources.find((resource) => resource.key === key)
  if (found !== undefined) return found
  const hint = didYouMean(
    key,
    resources.map((one) => one.key),
  )
  throw new CommandError(`there is no record of ${escapeControls(key)}. ${hint}`)
}

function show(io: Io, settings: Settings, reading: Chosen, { key, output }: StatusOptions): void {
  const { whole, resources, next, cause, isCheckKnown } = reading
  const daemon = { state: reading.daemon.state, ...reading.daemon.last }
  const problems = wholeSentences(whole, settings)
  const [only] = resources
  switch (output) {
    case 'json':
      printJson(
        io,
        key === undefined
          ? { daemon, problems, withoutManifest: whole.withoutManifest, resources }
          : { ...only, next, daemon, problems },
      )
      return
    case 'name':
      if (resources.length > 0) print(io.stdout, resources.map((resource) => resource.key).join('\n'))
      return
    case 'text':
    case 'wide': {
      const text = { ...sheetOf(io), form: output, here: settings, now: reading.now, isCheckKnown }
      print(
        io.stdout,
        key !== undefined && only !== undefined
          ? statusDetails(only, reading, { ...text, cause, next })
          : statusText(reading, { ...text, nothing: reading.nothing }),
      )
    }
  }
}

const WATCH_MS = 2_000
const CLEAR = '\u001b[H\u001b[2J\u001b[3J'

/** Repeats the status until an interrupt, or until the output is closed. */
export async function watch<Reading extends StatusReading>(
  io: Io,
  watched: {
    readonly read: () => Promise<Reading>
    /** True on a terminal: redraws the status. False: prints it again after a change. */
    readonly inPlace: boolean
    readonly show: (reading: Reading) => void
  },
): Promise<ExitCode> {
  const { read, inPlace, show: draw } = watched
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
      if (inPlace || facts !== before) draw(reading)
      silence = undefined
      before = facts
    }
    await sleep(io.clock, WATCH_MS, ended).catch(() => undefined)
  }
  return EXIT.fine
}

/** If this text changes, the status is printed again. Omits times of checks, because each check changes them. */
function factsOf({ daemon, whole: { problem, errors = 0 }, resources }: StatusReading): string {
  const said = resources.map((one) => [one.key, one.status, one.reason, one.message])
  return JSON.stringify([daemon.state, daemon.last?.startedAt, problem, errors, said])
}
