import { idFormOf } from '../../kinds/id-form.ts'
import { anyOf, nounOf } from '../../kinds/lookup.ts'
import { createOnceKindOf, isCreatable } from '../../kinds/profile.ts'
import type { Settings } from '../../config/settings.ts'
import type { Key } from '../../kinds/key.ts'
import type { OperatorResult, OperatorContext } from '../../reconcile/operator/operator.ts'
import { compose, loadOnce, openBoard, openLedgerToRead, openLedgerToWrite, openSource } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson, nobody } from '../io.ts'
import { commandContext } from '../command-context.ts'
import { commandsTyped } from '../../server/command-line.ts'
import { printable } from '../render/terminal.ts'
import { adoptAs } from '../../reconcile/operator/adopt.ts'
import { approveRecreate } from '../../reconcile/operator/recreate.ts'
import { retryCreate } from '../../reconcile/operator/retry.ts'
import { typedKey } from '../typed-key.ts'
import { systemClock } from '../../daemon/system-clock.ts'
import { unbindLedger } from '../../ledger/open.ts'
import { forgetKey } from '../../reconcile/operator/forget.ts'

/* What `adopt`, `resolve` and `forget` have in common: an operator's command, written beside a daemon or without one. */

export const PERSON_OUTPUTS = ['text', 'json'] as const

export interface PersonCommand {
  readonly key: Key
  readonly output: (typeof PERSON_OUTPUTS)[number]
  /** `asked`: a pipe is looked for there. `not asked`: only the directory and the ledger matter. */
  readonly platform: 'asked' | 'not asked'
  /** `open`: a ledger that is not there yet is made. `existing`: there would be nothing in it. */
  readonly ledger: 'open' | 'existing'
}

/** Opens what the command is about, lets `say` write it, and prints what became of it. */
export async function runPersonCommand(
  io: Io,
  settings: Settings,
  command: PersonCommand,
  say: (context: OperatorContext, signal: AbortSignal) => Promise<OperatorResult>,
): Promise<ExitCode> {
  const answer = await withOperatorContext(io, settings, command, say)
  return show(io, command, { ...answer, message: commandsTyped(answer.message, commandContext(settings)) })
}

/** Opens the ledger, reads the directory, and closes both after `say`. */
export async function withOperatorContext<T>(
  io: Io,
  settings: Settings,
  command: Pick<PersonCommand, 'platform' | 'ledger'>,
  say: (context: OperatorContext, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  assertLasting(settings)
  const signal = io.stop.stopping
  await using stack = new AsyncDisposableStack()
  if (command.ledger === 'existing') await (await openLedgerToRead(settings))[Symbol.asyncDispose]()
  const ledger = stack.use(await openLedgerToWrite(settings, nobody))
  const engine = await compose(
    {
      settings: command.platform === 'asked' ? settings : { ...settings, sandbox: false },
      ledger,
      source: openSource(settings),
      board: openBoard(),
      emit: nobody,
      maxCreates: settings.maxCreates,
      sandboxUse: 'look',
      confirm: undefined,
    },
    stack,
  )
  try {
    await loadOnce(engine, signal)
    return await say(engine.context, signal)
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error
    throw new CommandError(`stopped by ${String(signal.reason)} before anything was written`)
  }
}

function show(io: Io, { key, output }: PersonCommand, answer: OperatorResult): ExitCode {
  if (output === 'json') printJson(io, { key, ...answer })
  else if (answer.result === 'done') print(io.stdout, printable(answer.message))
  else print(io.stderr, `pipewright: ${printable(answer.message)}`)
  return answer.result === 'done' ? EXIT.fine : EXIT.failed
}

/** @throws {CommandError} what is written to a ledger in memory would be gone at once */
export function assertLasting({ ledger }: Pick<Settings, 'ledger'>): void {
  if (ledger !== 'memory:') return
  throw new CommandError(
    'the ledger is memory:, which no other process can see. Name the one that the daemon works with: --ledger sqlite:FILE.',
    EXIT.usage,
  )
}

/** @throws {CommandError} when it is no key */
export function keyFrom(text: string): Key {
  const key = typedKey(text)
  if (key !== undefined) return key
  throw new CommandError(`"${text}" is not a key: give Kind/name, such as Pipe/orders.`, EXIT.usage)
}

/** @throws {CommandError} when it is not the key of a pipe */
export function pipeKeyFrom(text: string, { profile }: Pick<Settings, 'profile'>): Key {
  const key = keyFrom(text)
  if (isCreatable(profile, key)) return key
  throw new CommandError(
    `${key} is not a pipe: only pipes are created, and so adopted or resolved.`,
    EXIT.usage,
  )
}

/** @throws {CommandError} when it cannot be the id of what the key is of */
export function pipeIdFrom(text: string, key: Key, { profile }: Pick<Settings, 'profile'>): string {
  const form = idFormOf(createOnceKindOf(profile, key))
  if (form.matches(text)) return text.toLowerCase()
  throw new CommandError(`"${text}" is not the id of ${anyOf(nounOf(key))}: give ${form.words}.`, EXIT.usage)
}

export interface AdoptOptions {
  readonly key: string
  readonly pipeId: string
  readonly output: PersonCommand['output']
}

/**
 * `pipewright adopt Pipe/NAME ID`: takes over a pipe that exists. For a pipe that the key has already, it says that
 * what the manifest asks for was set in the console.
 */
export async function adopt(io: Io, settings: Settings, options: AdoptOptions): Promise<ExitCode> {
  const key = pipeKeyFrom(options.key, settings)
  const pipeId = pipeIdFrom(options.pipeId, key, settings)
  const command: PersonCommand = { key, output: options.output, platform: 'asked', ledger: 'open' }
  return runPersonCommand(io, settings, command, (context, signal) =>
    adoptAs(context, { key, pipeId, word: 'adopt' }, signal),
  )
}

/** What the person found out. */
export type Found =
  /** The pipe with this id is that of the key. */
  | { readonly type: 'pipe'; readonly pipeId: string }
  /** The create made nothing. */
  | { readonly type: 'nothing'; readonly force: boolean }
  /** The pipe of the key is gone. */
  | { readonly type: 'gone' }

export interface ResolveOptions {
  readonly key: string
  readonly found: Found
  readonly output: PersonCommand['output']
}

/** `pipewright resolve Pipe/NAME --adopt ID | --retry | --recreate`: what a person found out settles what nobody else can. */
export async function resolve(io: Io, settings: Settings, options: ResolveOptions): Promise<ExitCode> {
  const { found, output } = options
  const key = pipeKeyFrom(options.key, settings)
  const command: PersonCommand = { key, output, platform: 'asked', ledger: 'existing' }
  switch (found.type) {
    case 'nothing':
      return runPersonCommand(io, settings, { ...command, platform: 'not asked' }, (context) =>
        retryCreate(context, key, found),
      )
    case 'gone':
      return runPersonCommand(io, settings, command, (context, signal) =>
        approveRecreate(context, key, signal),
      )
    case 'pipe': {
      const pipeId = pipeIdFrom(found.pipeId, key, settings)
      return runPersonCommand(io, settings, command, (context, signal) =>
        adoptAs(context, { key, pipeId, word: 'resolve' }, signal),
      )
    }
  }
}

/** `pipewright forget KEY`: gives up the record of an orphan; its pipe's id stays in the history. */
export async function forget(
  io: Io,
  settings: Settings,
  options: { readonly key: string; readonly output: PersonCommand['output'] },
): Promise<ExitCode> {
  const key = keyFrom(options.key)
  const command: PersonCommand = { key, output: options.output, platform: 'not asked', ledger: 'existing' }
  return runPersonCommand(io, settings, command, (context) => forgetKey(context, key))
}

/** `pipewright forget --platform`: the platform has another address now; the next owner ties the ledger to it. */
export async function forgetPlatform(
  io: Io,
  settings: Settings,
  output: PersonCommand['output'],
): Promise<ExitCode> {
  assertLasting(settings)
  await (await openLedgerToRead(settings))[Symbol.asyncDispose]()
  const platform = await unbindLedger(settings.ledger, { clock: systemClock, emit: nobody })
  const message =
    platform === undefined
      ? 'The ledger is tied to no platform; the next "pipewright run" or "apply" ties it to the one it is started with.'
      : `The ledger is no longer tied to ${platform}; the next "pipewright run" or "apply" ties it to the one it is started with.`
  const typed = commandsTyped(message, commandContext(settings))
  if (output === 'json') printJson(io, { result: 'done', platform, message: typed })
  else print(io.stdout, typed)
  return EXIT.fine
}
