import { timeOf } from '../../kinds/instant.ts'
import type { Settings } from '../../config/settings.ts'
import { LedgerError } from '../../contract/ledger.ts'
import type { OperatorCommand, OperatorResult } from '../../contract/person-command.ts'
import { unbindLedger } from '../../ledger/open.ts'
import { sleep } from '../../lib/clock.ts'
import { mistakeIn } from '../../reconcile/operator/operate.ts'
import { composeToLook, type Engine, openLedgerToLead, openLedgerToRead, openSource } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson, nobody, misuse } from '../io.ts'
import { plainText, warn } from '../render/terminal.ts'
import { callOwner, expectObject, findOwner, NoAnswerError, type ServerAddress } from '../server-client.ts'
import { keyFrom } from '../command-context.ts'

/* The daemon that owns the ledger carries out operator commands. Without a daemon, this process does. */

interface Printed {
  readonly output: 'text' | 'json'
}

const OF_THE_PLATFORM: ReadonlySet<string> = new Set(['adopt', 'resolve', 'recreate'])

async function carryOut(
  io: Io,
  settings: Settings,
  { output }: Printed,
  asked: OperatorCommand,
): Promise<ExitCode> {
  // With --server, the daemon checks the command, because its profile might differ.
  const mistake = settings.server === undefined ? mistakeIn(settings.profile, asked) : undefined
  if (mistake !== undefined) misuse(mistake)
  const answer = await atOwner(
    io,
    settings,
    asked.command,
    (owner) => askOwner(io, owner, asked),
    ({ reconciler }, signal) => reconciler.operate(asked, signal),
  )
  const { message } = answer
  if (output === 'json') printJson(io, { key: asked.key, ...answer })
  else if (answer.result === 'done') print(io.stdout, plainText(message))
  else warn(io, message, settings)
  return answer.result === 'done' ? EXIT.fine : EXIT.failed
}

/** Long, because a command waits for a reconcile of its key, which waits for the request budget. */
const ANSWER_MS = 90_000

async function askOwner(io: Io, owner: ServerAddress, asked: OperatorCommand): Promise<OperatorResult> {
  const reply = await callOwner(io, owner, { path: '-/operate', body: asked, timeoutMs: ANSWER_MS })
  return expectObject(owner, reply) as unknown as OperatorResult // the daemon's type
}

const AGAIN_MS = 250

/** ms. Longest wait while another command uses the ledger, or while its daemon does not answer. */
const TURN_MS = 5_000

/** Calls `ask` if a daemon owns the ledger. Otherwise, this process owns the ledger while it calls `act`. */
export async function atOwner<T>(
  io: Io,
  settings: Settings,
  command: 'allow' | OperatorCommand['command'],
  ask: (owner: ServerAddress) => Promise<T>,
  act: (engine: Engine, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  assertLasting(settings)
  const { clock, stop } = io
  const end = clock.monotonic() + (settings.server === undefined ? TURN_MS : 0)
  let owner: ServerAddress | undefined
  for (;;) {
    try {
      owner = await findOwner(io, settings, command).catch((error: unknown) => {
        if (command !== 'adopt' || !(error instanceof LedgerError) || error.code !== 'missing') throw error
        const hint = 'If Pipewright uses another one, repeat this with --ledger.'
        warn(io, `there is no ledger at ${settings.ledger}, so a new one is made. ${hint}`)
        return undefined
      })
      if (owner === undefined) return await actAsOwner(io, settings, command, act)
      break
    } catch (error) {
      const isBusy =
        error instanceof NoAnswerError || (error instanceof LedgerError && error.code === 'locked')
      if (!isBusy || clock.monotonic() >= end || stop.stopping.aborted) throw error
    }
    await sleep(clock, AGAIN_MS, stop.stopping).catch(() => undefined)
  }
  return ask(owner)
}

async function actAsOwner<T>(
  io: Io,
  settings: Settings,
  command: string,
  act: (engine: Engine, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = io.stop.stopping
  await using stack = new AsyncDisposableStack()
  try {
    const { ledger } = await openLedgerToLead(io, settings, nobody, stack)
    const own = OF_THE_PLATFORM.has(command) ? settings : { ...settings, sandbox: false }
    const parts = { settings: own, ledger, source: openSource(settings), accept: 'force' } as const
    return await act(await composeToLook(io, parts, stack), signal)
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error
    throw new CommandError(`stopped by ${String(signal.reason)} before anything was written`)
  }
}

/** Refuses a ledger in memory, because the command would have no effect on the daemon. */
export function assertLasting({ ledger }: Pick<Settings, 'ledger'>): void {
  if (ledger !== 'memory:') return
  misuse("no other process can read a ledger in memory. Name the daemon's ledger: --ledger sqlite:FILE.")
}

export function adopt(
  io: Io,
  settings: Settings,
  printed: Printed,
  word: string,
  id: string,
): Promise<ExitCode> {
  return carryOut(io, settings, printed, { command: 'adopt', key: keyFrom(word), pipeId: id })
}

interface ResolveFlags extends Printed {
  readonly adopt?: string
  readonly retry?: true
  readonly recreate?: true
  readonly force?: true
}

/** @throws {CommandError} unless exactly one of --adopt, --retry and --recreate is given */
export function needsOfResolve({ adopt: pipeId, retry, recreate, force }: ResolveFlags) {
  if ([pipeId, retry, recreate].filter((flag) => flag !== undefined).length !== 1)
    misuse(
      'resolve: give --adopt ID if the pipe exists, --retry if a create of unknown outcome had no effect, or ' +
        '--recreate if the pipe is gone.',
    )
  if (force === true && retry !== true) misuse('resolve: --force works only with --retry.')
  return retry === true ? 'local' : 'platform or server'
}

export function resolve(io: Io, settings: Settings, flags: ResolveFlags, word: string): Promise<ExitCode> {
  const { adopt: pipeId, retry, force = false } = flags
  const key = keyFrom(word)
  if (pipeId !== undefined) return carryOut(io, settings, flags, { command: 'resolve', key, pipeId })
  if (retry === true) return carryOut(io, settings, flags, { command: 'retry', key, force })
  return carryOut(io, settings, flags, { command: 'recreate', key })
}

/** @param flags `for`: ms */
export function suspend(
  io: Io,
  settings: Settings,
  flags: Printed & { readonly reason: string; readonly for: number },
  word: string,
): Promise<ExitCode> {
  const until = timeOf(io.clock.now() + flags.for)
  const asked = { command: 'suspend', key: keyFrom(word), reason: flags.reason, until } as const
  return carryOut(io, settings, flags, asked)
}

export function resume(io: Io, settings: Settings, printed: Printed, word: string): Promise<ExitCode> {
  return carryOut(io, settings, printed, { command: 'resume', key: keyFrom(word) })
}

export async function forget(
  io: Io,
  settings: Settings,
  { platform, output }: Printed & { readonly platform?: true },
  word?: string,
): Promise<ExitCode> {
  if ((word === undefined) === (platform === undefined))
    misuse('forget: give either the key of an orphan, such as Pipe/orders, or --platform.')
  if (word === undefined) return forgetPlatform(io, settings, output)
  return carryOut(io, settings, { output }, { command: 'forget', key: keyFrom(word) })
}

async function forgetPlatform(io: Io, settings: Settings, output: Printed['output']): Promise<ExitCode> {
  assertLasting(settings)
  await (await openLedgerToRead(settings, io.clock))[Symbol.asyncDispose]()
  const platform = await unbindLedger(settings.ledger, io)
  const state = platform === undefined ? 'belongs to no platform' : `no longer belongs to ${platform}`
  const message = `The ledger ${state}. The next "run" or "apply" binds it to the platform at --base-url.`
  if (output === 'json') printJson(io, { result: 'done', platform, message })
  else print(io.stdout, message)
  return EXIT.fine
}
