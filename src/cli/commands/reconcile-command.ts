import { setTimeout } from 'node:timers/promises'
import type { Settings } from '../../config/settings.ts'
import type { ResourceStatus } from '../../contract/status.ts'
import { systemClock } from '../../daemon/system-clock.ts'
import type { Key } from '../../kinds/key.ts'
import { formatDuration } from '../../lib/duration.ts'
import { isWell } from '../../plan/severity.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { createProgress } from '../render/progress.ts'
import { resourceTable } from '../render/status-text.ts'
import { paintFor, printable, widthOfTerminal } from '../render/terminal.ts'
import { viewOfStatus } from '../resource-view.ts'
import { runningServer } from '../running-server.ts'
import { adminTokenOf, callServer, expectObject, type ServerCall } from '../server-client.ts'

export const RECONCILE_OUTPUTS = ['text', 'json'] as const

export interface ReconcileOptions {
  readonly key: Key | undefined
  /** Undefined: does not wait for the end. Otherwise so long at most, ms. */
  readonly waitMs: number | undefined
  readonly output: (typeof RECONCILE_OUTPUTS)[number]
}

type Item = Omit<ResourceStatus, 'observed'>

/** `pipewright reconcile [KEY] --wait`: a running daemon reads and reconciles now, everything or one resource. */
export async function reconcile(io: Io, settings: Settings, options: ReconcileOptions): Promise<ExitCode> {
  const { key, waitMs, output } = options
  const command = 'reconcile'
  const token = await adminTokenOf(settings, command)
  const server = await runningServer(settings, command)
  const ask = async (method: ServerCall['method'], path: string) => {
    const call = { command, server, method, path, body: undefined, timeoutMs: ANSWER_MS }
    return expectObject(call, await callServer(io, { ...call, token: method === 'POST' ? token : undefined }))
  }
  const query = key === undefined ? '' : `?key=${encodeURIComponent(key)}`
  const receipt = await ask('POST', `-/reconcile${query}`)
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
  await untilDone(io, { waitMs, ask: () => ask('GET', progress) })
  const found = await ask('GET', key === undefined ? 'api/v1/resources' : `api/v1/resources/${key}`)
  const items = (key === undefined ? found['items'] : [found]) as unknown as readonly Item[] // as the daemon made it
  show(io, items, options)
  return items.every(isWell) ? EXIT.fine : EXIT.failed
}

/** A daemon answers each of these at once: ms. */
const ANSWER_MS = 30_000

const ASK_AGAIN_MS = 250

interface Wait {
  readonly waitMs: number
  /** How far it got. */
  readonly ask: () => Promise<Readonly<Record<string, unknown>>>
}

/** @throws {CommandError} when it takes longer */
async function untilDone(io: Io, { waitMs, ask }: Wait): Promise<void> {
  const { stopping } = io.stop
  using progress = createProgress(io)
  const deadline = performance.now() + waitMs
  for (;;) {
    const { done, pending } = await ask()
    if (done === true) return
    if (performance.now() >= deadline) {
      throw new CommandError(
        `reconcile: not done within ${formatDuration(waitMs)}, ${String(pending)} still to come. The daemon goes on; wait longer with --timeout.`,
      )
    }
    progress.show(`Reconciling, ${String(pending)} to come`)
    await setTimeout(ASK_AGAIN_MS, undefined, { signal: stopping }).catch(() => undefined)
    if (stopping.aborted) throw new CommandError('reconcile: stopped waiting. The daemon goes on.')
  }
}

function show(io: Io, items: readonly Item[], { key, output }: ReconcileOptions): void {
  const [only] = items
  if (output === 'json')
    printJson(io, key === undefined ? { done: true, resources: items } : { done: true, ...only })
  else if (key !== undefined && only !== undefined)
    print(io.stdout, printable(`${key}: ${only.status} (${only.reason}). ${only.message}`))
  else {
    const text = {
      now: systemClock.now(),
      paint: paintFor(io.stdout, io.env),
      width: widthOfTerminal(io.stdout),
      form: 'text',
    } as const
    print(io.stdout, resourceTable(items.map(viewOfStatus), text))
  }
}
