import type { Settings } from '../../config/settings.ts'
import { AS_SAID, commandsTyped } from '../../server/command-line.ts'
import { setTimeout } from 'node:timers/promises'
import type { ResourceReply, ResourcesReply } from '../../server/api/resources.ts'
import { systemClock } from '../../daemon/system-clock.ts'
import type { Key } from '../../kinds/key.ts'
import { formatDuration } from '../../lib/duration.ts'
import { isWell } from '../../plan/severity.ts'
import { didYouMean } from '../did-you-mean.ts'
import { networkToOthers } from '../compose-network.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { createProgress } from '../render/progress.ts'
import { resourceTable } from '../render/status-text.ts'
import { paintFor, printable, widthOfTerminal } from '../render/terminal.ts'
import { viewOfStatus } from '../resource-view.ts'
import { wholeSentences } from '../whole-facts.ts'
import { readServerResources, wholeOf } from '../server-reading.ts'
import { runningServer } from '../running-server.ts'
import {
  adminTokenOf,
  callServer,
  expectObject,
  getReply,
  NoAnswerError,
  type Asked,
  type ServerReply,
} from '../server-client.ts'

export const RECONCILE_OUTPUTS = ['text', 'json'] as const

export interface ReconcileOptions {
  readonly key: Key | undefined
  /** `force`: the directory is accepted as it is, even if most manifests are gone. */
  readonly accept: 'force' | 'normal'
  /** Undefined: does not wait for the end. Otherwise so long at most, ms. */
  readonly waitMs: number | undefined
  readonly output: (typeof RECONCILE_OUTPUTS)[number]
}

/** `pipewright reconcile [KEY] --wait`: a running daemon reads and reconciles now, everything or one resource. */
export async function reconcile(io: Io, settings: Settings, options: ReconcileOptions): Promise<ExitCode> {
  const { key, accept, waitMs, output } = options
  const command = 'reconcile'
  const server = await runningServer(settings, command)
  const token = await adminTokenOf(settings, command)
  const call = { command, server, network: networkToOthers(settings), timeoutMs: ANSWER_MS }
  const body = {
    type: 'application/json',
    text: JSON.stringify({ key, accept: accept === 'force' ? true : undefined }),
  }
  const reply = await callServer(io, { ...call, method: 'POST', path: '-/reconcile', token, body })
  if (key !== undefined && reply.status === 404) await assertKnown(io, call, key)
  const receipt = expectObject(call, reply)
  if (waitMs === undefined) {
    if (output === 'json') printJson(io, { key, done: false, ...receipt })
    else
      print(
        io.stdout,
        `${key ?? 'All resources'}: a reconcile was requested. Add --wait to see what becomes of it.`,
      )
    return EXIT.fine
  }
  const requested = receipt['token']
  if (typeof requested !== 'string') throw new CommandError(`${command}: ${server} answered without a token.`)
  const progress = `api/v1/reconciles/${encodeURIComponent(requested)}`
  await untilDone(io, {
    waitMs,
    call,
    ask: () => callServer(io, { ...call, method: 'GET', path: progress, token: undefined, body: undefined }),
  })
  if (key !== undefined) {
    const item = await getReply(io, call, { path: `api/v1/resources/${key}` })
    showOne(io, item, output)
    return isWell(item) ? EXIT.fine : EXIT.failed
  }
  const all = await readServerResources(io, call)
  const problems = wholeSentences(wholeOf(all.overview)).map((said) => commandsTyped(said, all.overview))
  showAll(io, { items: all.items, problems }, output)
  return problems.length === 0 && all.items.every(isWell) ? EXIT.fine : EXIT.failed
}

/** @throws {CommandError} when the daemon has no resource of this key */
async function assertKnown(io: Io, call: Asked, key: Key): Promise<void> {
  const { items } = await readServerResources(io, call)
  const known = items.map((item) => item.key)
  if (known.includes(key)) return
  throw new CommandError(`${call.command}: there is no resource ${key}. ${didYouMean(key, known)}`)
}

/** A daemon answers each of these at once: ms. */
const ANSWER_MS = 30_000

const ASK_AGAIN_MS = 250

interface Wait {
  readonly waitMs: number
  readonly call: Asked
  /** How far it got. */
  readonly ask: () => Promise<ServerReply>
}

/** @throws {CommandError} when it takes longer, or the daemon does not go on */
async function untilDone(io: Io, { waitMs, call, ask }: Wait): Promise<void> {
  const { stopping } = io.stop
  using progress = createProgress(io)
  const deadline = performance.now() + waitMs
  for (;;) {
    const { done, pending } = expectObject(call, await stillThere(ask))
    if (done === true) return
    const left = typeof pending === 'number' ? pending : 0
    if (performance.now() >= deadline) {
      throw new CommandError(
        `reconcile: not done within ${formatDuration(waitMs)}, ${left} still to come. The daemon goes on; wait longer with --timeout.`,
      )
    }
    progress.show(`Reconciling, ${left} to come`)
    await setTimeout(ASK_AGAIN_MS, undefined, { signal: stopping }).catch(() => undefined)
    if (stopping.aborted) throw new CommandError('reconcile: stopped waiting. The daemon goes on.')
  }
}

/** A request is known to the process that took it, and to no other. */
async function stillThere(ask: Wait['ask']): Promise<ServerReply> {
  const reply = await ask().catch((error: unknown) => {
    if (!(error instanceof NoAnswerError)) throw error
    const hint =
      'When it starts, it reads and reconciles everything: start it, and look with "pipewright status".'
    throw new CommandError(`reconcile: the daemon stopped before this was done. ${hint}`)
  })
  if (reply.status !== 404) return reply
  const hint = 'It reads and reconciles everything as it starts. Look with "pipewright status", or ask again.'
  throw new CommandError(`reconcile: the daemon was restarted before this was done. ${hint}`)
}

type Output = ReconcileOptions['output']

function showOne(io: Io, item: ResourceReply, output: Output): void {
  if (output === 'json') printJson(io, { done: true, ...item })
  else print(io.stdout, printable(`${item.key}: ${item.status} (${item.reason}). ${item.message}`))
}

function showAll(
  io: Io,
  { items, problems }: Pick<ResourcesReply, 'items'> & { readonly problems: readonly string[] },
  output: Output,
): void {
  if (output === 'json') {
    printJson(io, { done: true, problems, resources: items })
    return
  }
  const text = {
    now: systemClock.now(),
    paint: paintFor(io.stdout, io.env),
    width: widthOfTerminal(io.stdout),
    form: 'text',
    here: AS_SAID,
  } as const
  for (const problem of problems) print(io.stdout, text.paint(['red', 'bold'], printable(problem)))
  if (problems.length > 0) print(io.stdout, '')
  print(io.stdout, resourceTable(items.map(viewOfStatus), text))
}
