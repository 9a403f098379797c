import type { Settings } from '../../config/settings.ts'
import { systemClock } from '../../daemon/system-clock.ts'
import { isWell } from '../../plan/severity.ts'
import { commandsTyped } from '../../server/command-line.ts'
import { nextSteps, placeOf, type NextStep } from '../../server/remedy.ts'
import { folderOf, settingsOfDaemon, stepContext } from '../command-context.ts'
import { createSource } from '../../manifest/source.ts'
import { typedKey } from '../typed-key.ts'
import { openLedgerToRead, sayMoved } from '../compose.ts'
import { didYouMean } from '../did-you-mean.ts'
import { networkToOthers } from '../compose-network.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { isTerminal, paintFor, printable, widthOfTerminal } from '../render/terminal.ts'
import { NOTHING_RECORDED, statusDetails, statusText, type StatusText } from '../render/status-text.ts'
import { filterWords, passes, type ResourceFilter } from '../resource-filter.ts'
import { readLedgerStatus, type ResourceView, type StatusReading } from '../resource-view.ts'
import { wholeSentences } from '../whole-facts.ts'
import { readServerStatus, readServerSteps } from '../server-reading.ts'
import { watch } from './status-watch.ts'

export const STATUS_OUTPUTS = ['text', 'wide', 'name', 'json'] as const

export interface StatusOptions {
  readonly key: string | undefined
  readonly filter: ResourceFilter
  readonly output: (typeof STATUS_OUTPUTS)[number]
  readonly watch: boolean
}

/** `pipewright status [key]`: what the ledger says, also while a daemon runs on it; with `--server`, what that daemon says. */
export async function status(io: Io, settings: Settings, asked: StatusOptions): Promise<ExitCode> {
  const { server } = settings
  const options = asked.key === undefined ? asked : { ...asked, key: typedKey(asked.key) ?? asked.key }
  const read = async () => {
    if (server !== undefined) {
      const call = { command: 'status', server, network: networkToOthers(settings) }
      const reading = chosen(await readServerStatus(io, call), options)
      return options.key === undefined
        ? reading
        : { ...reading, next: withoutItself(await readServerSteps(io, call, options.key), options.key) }
    }
    await using ledger = await openLedgerToRead(settings)
    if (!options.watch) sayMoved(io, ledger, settings)
    const all = await readLedgerStatus(ledger, settings, systemClock.now())
    if (options.key !== undefined && !all.resources.some(({ key }) => key === options.key))
      await assertNoManifest(io, settingsOfDaemon(settings, all.daemon.last), options.key)
    const reading = chosen(all, options)
    const [only] = reading.resources
    return options.key === undefined || only === undefined
      ? reading
      : {
          ...reading,
          next: withoutItself(nextOf(only, settingsOfDaemon(settings, reading.daemon.last)), options.key),
        }
  }
  if (options.watch) {
    const inPlace = isTerminal(io.stdout) && (options.output === 'text' || options.output === 'wide')
    return watch(io, { read, inPlace, show: (reading) => show(io, reading, options) })
  }
  const reading = await read()
  show(io, reading, options)
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
  /** What to do about the one resource that was asked for. */
  readonly next: readonly NextStep[]
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
      next: [],
      nothing: NOTHING_RECORDED,
      resources: [viewNamed(resources, key)],
    }
  }
  const isAll = filterWords(filter) === ''
  return {
    ...reading,
    whole: isAll ? reading.whole : { ...reading.whole, unreconciled: undefined },
    next: [],
    nothing: resources.length === 0 ? NOTHING_RECORDED : `No resource matches ${filterWords(filter)}.`,
    resources: resources.filter((resource) =>
      passes({ ...resource, reasons: reasonsOf(resource), at: resource.since }, filter),
    ),
  }
}

/** That of the resource, and those of its conditions: each is shown somewhere. */
function reasonsOf({ reason, conditions }: ResourceView): readonly string[] {
  const { Valid, Synced, Ready } = conditions
  return [reason, Valid.reason, Synced.reason, Ready.reason]
}

/** @throws {CommandError} when there is a manifest: then there is something to say of the key, although nothing is recorded */
async function assertNoManifest(io: Io, { profile, manifests }: Settings, key: string): Promise<void> {
  const source = createSource({ profile, root: manifests })
  const { state } = await source.load(new Map(), { accept: 'normal' }, io.stop.stopping)
  const entry = [...state.catalog.entries.values()].find((one) => one.key === key)
  if (entry === undefined) return
  const { file, line } = entry.position
  const place = placeOf(folderOf(manifests), file, line)
  const problem = entry.state === 'valid' ? '' : ' It has errors: see "pipewright validate".'
  throw new CommandError(
    `${key} has a manifest, at ${place}, and was not reconciled yet.${problem}`,
    EXIT.failed,
  )
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

function show(io: Io, reading: Chosen, { key, output }: StatusOptions): void {
  const { daemon, whole, here, resources, next } = reading
  const problems = wholeSentences(whole).map((problem) => commandsTyped(problem, here))
  const [only] = resources
  switch (output) {
    case 'json':
      printJson(
        io,
        key === undefined
          ? { daemon: jsonOf(daemon), problems, withoutManifest: whole.withoutManifest, resources }
          : { ...only, next, daemon: jsonOf(daemon), problems },
      )
      return
    case 'name':
      if (resources.length > 0) print(io.stdout, resources.map((resource) => resource.key).join('\n'))
      return
    case 'text':
    case 'wide': {
      const text = { ...textOptions(io, output), here, now: reading.now }
      print(
        io.stdout,
        key !== undefined && only !== undefined
          ? statusDetails(only, reading, { ...text, next })
          : statusText(reading, { ...text, nothing: reading.nothing }),
      )
    }
  }
}

/** What a person does about it. */
function nextOf(resource: ResourceView, settings: Settings): readonly NextStep[] {
  return isWell(resource) ? [] : nextSteps(resource, stepContext(settings), [])
}

/** Who asks for the status of a resource is not told to ask for it. */
function withoutItself(steps: readonly NextStep[], key: string): readonly NextStep[] {
  const itself = new RegExp(`^(npx )?pipewright status ${RegExp.escape(key)}( |$)`)
  return steps.filter(({ copy }) => copy === undefined || !itself.test(copy))
}

function jsonOf({ state, last }: StatusReading['daemon']) {
  return { state, ...last }
}

function textOptions(io: Io, form: StatusText['form']): Omit<StatusText, 'now' | 'here'> {
  return {
    paint: paintFor(io.stdout, io.env),
    width: widthOfTerminal(io.stdout),
    form,
  }
}
