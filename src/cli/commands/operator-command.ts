import { idFormOf } from '../../kinds/id-form.ts'
import { anyOf, nounOf } from '../../kinds/lookup.ts'
import { createOnceKindOf, isCreatable } from '../../kinds/profile.ts'
import type { Settings } from '../../config/settings.ts'
import type { Key } from '../../kinds/key.ts'
import type { OperatorResult, OperatorContext } from '../../reconcile/operator/operator.ts'
import { composeToLook, loadOnce, openLedgerToRead, openLedgerToWrite, openSource } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson, nobody, misuse } from '../io.ts'
import { commandContext } from '../command-context.ts'
import { commandsTyped } from '../../server/command-line.ts'
import { printable } from '../render/terminal.ts'
import { adoptAs } from '../../reconcile/operator/adopt.ts'
import { approveRecreate } from '../../reconcile/operator/recreate.ts'
import { retryCreate } from '../../reconcile/operator/retry.ts'
import { keyFrom } from '../typed-key.ts'
import { unbindLedger } from '../../ledger/open.ts'
import { forgetKey } from '../../reconcile/operator/forget.ts'

/* `adopt`, `resolve` and `forget` run with or without a daemon. */

interface Printed {
  readonly output: 'text' | 'json'
}

interface PersonCommand extends Printed {
  readonly key: Key
  /** `not asked`: needs only directory and ledger. */
  readonly platform: 'asked' | 'not asked'
  /** `open` creates a missing ledger; `existing` refuses. */
  readonly ledger: 'open' | 'existing'
}

async function runPersonCommand(
  io: Io,
  settings: Settings,
  command: PersonCommand,
  say: (context: OperatorContext, signal: AbortSignal) => Promise<OperatorResult>,
): Promise<ExitCode> {
  const answer = await withOperatorContext(io, settings, command, say)
  return show(io, command, { ...answer, message: commandsTyped(answer.message, commandContext(settings)) })
}

/** Opens ledger and directory for the duration of `say`. */
export async function withOperatorContext<T>(
  io: Io,
  settings: Settings,
  command: Pick<PersonCommand, 'platform' | 'ledger'>,
  say: (context: OperatorContext, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  assertLasting(settings)
  const signal = io.stop.stopping
  await using stack = new AsyncDisposableStack()
  if (command.ledger === 'existing') await (await openLedgerToRead(settings, io.clock))[Symbol.asyncDispose]()
  const ledger = stack.use(await openLedgerToWrite(settings, { clock: io.clock, emit: nobody }))
  const engine = await composeToLook(
    {
      clock: io.clock,
      settings: command.platform === 'asked' ? settings : { ...settings, sandbox: false },
      ledger,
      source: openSource(settings),
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

/** A ledger in memory would lose the command. @throws {CommandError} */
export function assertLasting({ ledger }: Pick<Settings, 'ledger'>): void {
  if (ledger !== 'memory:') return
  misuse(
    'the ledger is memory:, which no other process can read. Name the ledger of the daemon: --ledger sqlite:FILE.',
  )
}

/** @throws {CommandError} if it is not a pipe's key */
export function pipeKeyFrom(text: string, { profile }: Pick<Settings, 'profile'>): Key {
  const key = keyFrom(text)
  if (isCreatable(profile, key)) return key
  misuse(`${key} is not a pipe: only pipes are created, and so adopted or resolved.`)
}

/** @throws {CommandError} if it is not a valid id for the key's kind */
export function pipeIdFrom(text: string, key: Key, { profile }: Pick<Settings, 'profile'>): string {
  const form = idFormOf(createOnceKindOf(profile, key))
  if (form.matches(text)) return text.toLowerCase()
  misuse(`"${text}" is not the id of ${anyOf(nounOf(key))}: give ${form.words}.`)
}

/** Also accepts changes made in the console to the key's own pipe. */
export async function adopt(
  io: Io,
  settings: Settings,
  { output }: Printed,
  word: string,
  id: string,
): Promise<ExitCode> {
  const key = pipeKeyFrom(word, settings)
  const pipeId = pipeIdFrom(id, key, settings)
  const command: PersonCommand = { key, output, platform: 'asked', ledger: 'open' }
  return runPersonCommand(io, settings, command, (context, signal) =>
    adoptAs(context, { key, pipeId, word: 'adopt' }, signal),
  )
}

type Found =
  /** The key's pipe has this id. */
  | { readonly type: 'pipe'; readonly pipeId: string }
  /** The create had no effect. */
  | { readonly type: 'nothing'; readonly force: boolean }
  /** The key's pipe is gone. */
  | { readonly type: 'gone' }

export interface ResolveFlags extends Printed {
  readonly adopt?: string
  readonly retry?: true
  readonly recreate?: true
  readonly force?: true
}

/** @throws {CommandError} unless the flags name exactly one finding */
export function foundIn({ adopt: pipeId, retry, recreate, force }: ResolveFlags): Found {
  const found: Found[] = []
  if (pipeId !== undefined) found.push({ type: 'pipe', pipeId })
  if (retry === true) found.push({ type: 'nothing', force: force === true })
  if (recreate === true) found.push({ type: 'gone' })
  const [only, ...others] = found
  if (only === undefined || others.length > 0)
    misuse(
      'resolve: give one of --adopt ID, if the pipe exists; --retry, if a create of unknown outcome had no effect; ' +
        '--recreate, if its pipe is gone.',
    )
  if (force === true && retry !== true) misuse('resolve: --force goes with --retry.')
  return only
}

export async function resolve(
  io: Io,
  settings: Settings,
  flags: ResolveFlags,
  word: string,
): Promise<ExitCode> {
  const found = foundIn(flags)
  const key = pipeKeyFrom(word, settings)
  const command: PersonCommand = { key, output: flags.output, platform: 'asked', ledger: 'existing' }
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

/** The history keeps the id. */
export async function forget(
  io: Io,
  settings: Settings,
  { platform, output }: Printed & { readonly platform?: true },
  word?: string,
): Promise<ExitCode> {
  if ((word === undefined) === (platform === undefined))
    misuse('forget: give either the key of an orphan, such as Pipe/orders, or --platform.')
  if (word === undefined) return forgetPlatform(io, settings, output)
  const key = keyFrom(word)
  const command: PersonCommand = { key, output, platform: 'not asked', ledger: 'existing' }
  return runPersonCommand(io, settings, command, (context) => forgetKey(context, key))
}

/** After a change of the platform's address. */
async function forgetPlatform(
  io: Io,
  settings: Settings,
  output: PersonCommand['output'],
): Promise<ExitCode> {
  assertLasting(settings)
  await (await openLedgerToRead(settings, io.clock))[Symbol.asyncDispose]()
  const platform = await unbindLedger(settings.ledger, { clock: io.clock, emit: nobody })
  const message =
    platform === undefined
      ? 'The ledger is tied to no platform; the next "pipewright run" or "apply" ties it to the one it is started with.'
      : `The ledger is no longer tied to ${platform}; the next "pipewright run" or "apply" ties it to the one it is started with.`
  const typed = commandsTyped(message, commandContext(settings))
  if (output === 'json') printJson(io, { result: 'done', platform, message: typed })
  else print(io.stdout, typed)
  return EXIT.fine
}
