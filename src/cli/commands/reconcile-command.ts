import type { Settings } from '../../config/settings.ts'
import type { ResourceReply, ResourcesReply } from '../../server/api/resources.ts'
import { sleep } from '../../lib/clock.ts'
import { formatDuration } from '../../lib/duration.ts'
import { isWell } from '../../plan/severity.ts'
import { keyFrom } from '../command-context.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson, misuse } from '../io.ts'
import { createProgress } from '../render/progress.ts'
import { resourceTable } from '../render/status-text.ts'
import { plainText, sheetOf } from '../render/terminal.ts'
import { wholeSentences } from '../daemon-summary.ts'
import { readServerResources, wholeOf } from '../reading.ts'
import { withCommands } from '../../plan/step.ts'
import { askServer, findOwner, getReply, type ServerAddress } from '../server-client.ts'
import { readWait, type WaitFlags } from '../usage.ts'

export const RECONCILE_WAIT_MS = 5 * 60_000

type Output = 'text' | 'json'

export async function reconcile(
  io: Io,
  settings: Settings,
  flags: WaitFlags & { readonly accept?: true; readonly output: Output },
  word?: string,
): Promise<ExitCode> {
  const { accept, output } = flags
  const waitMs = readWait(flags, RECONCILE_WAIT_MS)
  const key = word === undefined ? undefined : keyFrom(word)
  if (key !== undefined && accept === true)
    misuse('reconcile: --accept is for the whole directory. Leave out the key.')
  const command = 'reconcile'
  const owner = await findOwner(io, settings, command)
  if (owner === undefined)
    throw new CommandError(
      `${command}: no daemon that uses the ledger ${settings.ledger} can be reached. Start one with "pipewright run", or name its address with --server URL.`,
    )
  const request = { path: '-/reconcile', body: { key, accept }, timeoutMs: ANSWER_MS }
  const receipt = await askServer(io, owner, request)
  if (waitMs === undefined) {
    if (output === 'json') printJson(io, { key, done: false, ...receipt })
    else
      print(io.stdout, `${key ?? 'All resources'}: a reconcile was requested. Add --wait to see the result.`)
    return EXIT.fine
  }
  const requested = receipt['token']
  if (typeof requested !== 'string')
    throw new CommandError(
      `${command}: the reply of ${owner.server} has no token for --wait, so it is not from Pipewright. Correct the address.`,
    )
  await untilDone(io, owner, `api/v1/reconciles/${encodeURIComponent(requested)}`, waitMs)
  if (key !== undefined) {
    const item = await getReply(io, owner, { path: `api/v1/resources/${key}` })
    showOne(io, { ...item, message: withCommands(item.message, settings) }, output)
    return isWell(item) ? EXIT.fine : EXIT.failed
  }
  const all = await readServerResources(io, owner)
  const problems = wholeSentences(wholeOf(all.overview), settings)
  showAll(io, settings, { items: all.items, problems }, output)
  return problems.length === 0 && all.items.every(isWell) ? EXIT.fine : EXIT.failed
}

const ANSWER_MS = 30_000

const ASK_AGAIN_MS = 250

/** @throws {CommandError} on a timeout, or if the daemon stops */
async function untilDone(io: Io, owner: ServerAddress, path: string, waitMs: number): Promise<void> {
  const { stopping } = io.stop
  using progress = createProgress(io)
  const deadline = io.clock.monotonic() + waitMs
  for (;;) {
    const { done, pending } = await askServer(io, owner, { path, timeoutMs: ANSWER_MS })
    if (done === true) return
    const left = typeof pending === 'number' ? pending : 0
    if (io.clock.monotonic() >= deadline) {
      throw new CommandError(
        `reconcile: not finished within ${formatDuration(waitMs)}, ${left} left. The daemon continues. To wait longer, use --timeout.`,
      )
    }
    progress.show(`Reconciling, ${left} left`)
    await sleep(io.clock, ASK_AGAIN_MS, stopping).catch(() => undefined)
    if (stopping.aborted) throw new CommandError('reconcile: stopped waiting. The daemon continues.')
  }
}

function showOne(io: Io, item: ResourceReply, output: Output): void {
  if (output === 'json') printJson(io, { done: true, ...item })
  else print(io.stdout, plainText(`${item.key}: ${item.status} (${item.reason}). ${item.message}`))
}

function showAll(
  io: Io,
  here: Settings,
  { items, problems }: Pick<ResourcesReply, 'items'> & { readonly problems: readonly string[] },
  output: Output,
): void {
  if (output === 'json') {
    printJson(io, { done: true, problems, resources: items })
    return
  }
  const text = { now: io.clock.now(), ...sheetOf(io), form: 'text', here } as const
  for (const problem of problems) print(io.stdout, text.paint(['red', 'bold'], plainText(problem)))
  if (problems.length > 0) print(io.stdout, '')
  print(io.stdout, resourceTable(items, text))
}
