import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { SettingsOf } from '../command-help.ts'
import { systemClock } from '../../daemon/system-clock.ts'
import type { FieldEdit, ManifestPlace } from '../../kinds/field-edit.ts'
import type { Key } from '../../kinds/key.ts'
import { nearest } from '../../lib/nearest.ts'
import { placeEdit } from '../../manifest/yaml/place-edit.ts'
import { isWell } from '../../plan/severity.ts'
import { nextSteps, type NextStep } from '../../server/remedy.ts'
import { openLedgerToRead } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { isTerminal, paintFor, printable, widthOfTerminal } from '../render/terminal.ts'
import { NOTHING_RECORDED, statusDetails, statusText, type StatusText } from '../render/status-text.ts'
import { filterWords, passes, type ResourceFilter } from '../resource-filter.ts'
import { readLedgerStatus, type ResourceView, type StatusReading } from '../resource-view.ts'
import { wholeSentences } from '../whole-facts.ts'
import { NoAnswerError } from '../server-client.ts'
import { readServerStatus } from '../server-reading.ts'

export const STATUS_OUTPUTS = ['text', 'wide', 'name', 'json'] as const

export interface StatusOptions {
  readonly key: string | undefined
  readonly filter: ResourceFilter
  readonly output: (typeof STATUS_OUTPUTS)[number]
  readonly watch: boolean
}

/** `pipewright status [key]`: what the ledger says, also while a daemon runs on it; with `--server`, what that daemon says. */
export async function status(
  io: Io,
  settings: SettingsOf<'status'>,
  options: StatusOptions,
): Promise<ExitCode> {
  const { server } = settings
  const read = async () => {
    if (server !== undefined)
      return chosen(await readServerStatus(io, { command: 'status', server }), options)
    await using ledger = await openLedgerToRead(settings)
    return chosen(await readLedgerStatus(ledger, systemClock.now()), options)
  }
  if (options.watch) return watch(io, settings, { ...options, read })
  const reading = await read()
  show(io, settings, reading, options)
  return exitOf(reading)
}

/** A daemon that died says nothing of now, however fine it was. */
function exitOf({ daemon, whole, resources }: StatusReading): ExitCode {
  const isOld = daemon.state === 'died' || daemon.state === 'silent'
  return !isOld && wholeSentences(whole).length === 0 && resources.every(isWell) ? EXIT.fine : EXIT.failed
}

/** What is asked for of a reading. */
interface Chosen extends StatusReading {
  /** What is said when that is nothing. */
  readonly nothing: string
}

/** @throws {CommandError} when there is no record of the key that is asked for */
function chosen(reading: StatusReading, { key, filter }: StatusOptions): Chosen {
  const { resources } = reading
  if (key !== undefined) {
    // What is wrong with others says nothing of this one.
    const { problem } = reading.whole
    return {
      ...reading,
      whole: { problem },
      nothing: NOTHING_RECORDED,
      resources: [viewNamed(resources, key)],
    }
  }
  return {
    ...reading,
    nothing: resources.length === 0 ? NOTHING_RECORDED : `No resource matches ${filterWords(filter)}.`,
    resources: resources.filter((resource) => passes({ ...resource, at: resource.since }, filter)),
  }
}

function viewNamed(resources: readonly ResourceView[], key: string): ResourceView {
  const found = resources.find((resource) => resource.key === key)
  if (found !== undefined) return found
  throw new CommandError(
    `there is no record of ${printable(key)}. ${didYouMean(
      key,
      resources.map((one) => one.key),
    )}`,
    EXIT.failed,
  )
}

export function didYouMean(key: string, known: readonly Key[]): string {
  const near = nearest(key, known)
  return near === undefined ? '"pipewright status" lists all there are.' : `Did you mean ${near}?`
}

function show(io: Io, settings: SettingsOf<'status'>, reading: Chosen, { key, output }: StatusOptions): void {
  const { daemon, whole, resources } = reading
  const [only] = resources
  const next = key === undefined || only === undefined ? [] : nextOf(only, settings)
  switch (output) {
    case 'json':
      printJson(
        io,
        key === undefined
          ? { daemon: jsonOf(daemon), problems: wholeSentences(whole), resources }
          : { ...only, next, daemon: jsonOf(daemon), problems: wholeSentences(whole) },
      )
      return
    case 'name':
      if (resources.length > 0) print(io.stdout, resources.map((resource) => resource.key).join('\n'))
      return
    case 'text':
    case 'wide': {
      const text = { ...textOptions(io, output), now: reading.now }
      print(
        io.stdout,
        key !== undefined && only !== undefined
          ? statusDetails(only, reading, { ...text, next })
          : statusText(reading, { ...text, nothing: reading.nothing }),
      )
    }
  }
}

/** What a person does about it, with the lines of the manifest where it can be read here. */
function nextOf(resource: ResourceView, settings: SettingsOf<'status'>): readonly NextStep[] {
  if (isWell(resource)) return []
  const { sandbox, manifests } = settings
  const placeIn = ({ file, ...at }: ManifestPlace, edit: FieldEdit) => {
    const text = textOf(join(manifests, file))
    return text === undefined ? undefined : placeEdit(text, at, edit)
  }
  return nextSteps(resource, { sandbox, manifestsDir: manifests, placeEdit: placeIn }, [])
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function jsonOf({ state, last }: StatusReading['daemon']) {
  return { state, ...last }
}

function textOptions(io: Io, form: StatusText['form']): Omit<StatusText, 'now'> {
  return {
    paint: paintFor(io.stdout, io.env),
    width: widthOfTerminal(io.stdout),
    form,
  }
}

const WATCH_MS = 2_000
const CLEAR = '\u001b[H\u001b[2J\u001b[3J'

/** Shows it again and again until it is interrupted: on a terminal in place, elsewhere only what changed, a line each. */
async function watch(
  io: Io,
  settings: SettingsOf<'status'>,
  { read, ...options }: StatusOptions & { readonly read: () => Promise<Chosen> },
): Promise<ExitCode> {
  const { stopping } = io.stop
  // Whoever read it (`| head`) has seen enough.
  const closed = new AbortController()
  io.stdout.once('error', () => closed.abort())
  const ended = AbortSignal.any([stopping, closed.signal])
  const inPlace = isTerminal(io.stdout) && (options.output === 'text' || options.output === 'wide')
  let before: ReadonlyMap<Key, string> | undefined
  let silence: string | undefined
  while (!ended.aborted) {
    const reading = await read().catch((error: unknown) => {
      if (stopping.aborted) return 'stopped'
      // A daemon that is restarted comes back; one that never answered does not run there.
      if (!(error instanceof NoAnswerError) || before === undefined) throw error
      return error.message
    })
    if (ended.aborted) break
    if (inPlace) io.stdout.write(CLEAR)
    if (typeof reading === 'string') {
      if (inPlace || silence === undefined) print(io.stdout, printable(reading))
      silence = reading
    } else {
      if (inPlace || before === undefined) show(io, settings, reading, options)
      else for (const line of changesSince(before, reading)) print(io.stdout, line)
      if (silence !== undefined && !inPlace) print(io.stdout, 'The daemon answers again.')
      silence = undefined
      before = new Map(reading.resources.map((resource) => [resource.key, stateOf(resource)]))
    }
    await setTimeout(WATCH_MS, undefined, { signal: ended }).catch(() => undefined)
  }
  return EXIT.fine
}

function stateOf({ status: word, reason, message }: ResourceView): string {
  return `${word} ${reason}: ${message}`
}

function changesSince(before: ReadonlyMap<Key, string>, { resources }: StatusReading): readonly string[] {
  const time = new Date(systemClock.now()).toISOString()
  const now = new Set(resources.map((resource) => resource.key))
  return [
    ...resources
      .filter((resource) => before.get(resource.key) !== stateOf(resource))
      .map((resource) => printable(`${time}  ${resource.key}  ${stateOf(resource)}`)),
    ...[...before.keys()].filter((key) => !now.has(key)).map((key) => `${time}  ${key}  forgotten`),
  ]
}
