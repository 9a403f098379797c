import { lifecycleOf } from '../../kinds/lookup.ts'
import type { Settings } from '../../config/settings.ts'
import { createDispatcher } from '../../daemon/dispatcher.ts'
import { serviceQueueOf } from '../../daemon/service-queue.ts'
import { createQueue } from '../../daemon/queue.ts'
import { systemClock } from '../../daemon/system-clock.ts'
import type { Key } from '../../kinds/key.ts'
import { isWell } from '../../plan/severity.ts'
import { createLogging } from '../../telemetry/telemetry.ts'
import { seedStatus, type WritableBoard } from '../../reconcile/state/status-board.ts'
import { lastWords, type CreateEnd } from '../../reconcile/apply/outcome-outbox.ts'
import { desiredBody, withBodies } from '../../contract/status.ts'
import { type Engine, compose, loadOnce, openBoard, openLedgerAs, openSource } from '../compose.ts'
import { type ExitCode, EXIT, type Io, print, printJson } from '../io.ts'
import { failpointsOf } from '../failpoints.ts'
import { findingsAsText } from '../render/findings-text.ts'
import { paintFor, printable } from '../render/terminal.ts'
import { statusTable } from '../render/status-text.ts'

export const APPLY_OUTPUTS = ['text', 'json'] as const

/** A key is asked for again when something it waits for changed, but not without end. */
const MOST_RUNS = 3

/** `pipewright apply`: one pass over everything, then exit. With `--yes`, there is no create limit. */
export async function apply(
  io: Io,
  settings: Settings,
  options: { readonly output: (typeof APPLY_OUTPUTS)[number]; readonly createLimit: 'on' | 'off' },
): Promise<ExitCode> {
  await using stack = new AsyncDisposableStack()
  const board = openBoard()
  const logging = createLogging({
    log: { level: settings.logLevel, format: logFormatFor(io, settings), destination: io.stderr },
    clock: systemClock,
  })
  stack.defer(() => logging.close())
  const { emit } = logging
  const failpoints = failpointsOf(io.env, emit)
  const ledger = stack.use(await openLedgerAs('owner', settings, emit, failpoints))
  const source = openSource(settings)
  const maxCreates = options.createLimit === 'off' ? Infinity : settings.maxCreates
  const engine = await compose({ settings, ledger, source, board, emit, maxCreates, failpoints }, stack)
  const catalog = await loadOnce(engine, io.stop.stopping)
  const pass = await passOver(engine, settings, io)
  showUnreconciled(board, pass)
  const resources = board.list()
  if (options.output === 'json') {
    printJson(io, {
      revision: catalog.revision,
      problem: catalog.problem && { reason: catalog.problem.reason, message: catalog.problem.message },
      findings: catalog.findings,
      resources: resources.map((status) =>
        withBodies(status, desiredBody(catalog.entries.get(status.key)?.manifest)),
      ),
    })
  } else {
    const paint = paintFor(io.stdout, io.env)
    if (catalog.findings.length > 0)
      print(io.stdout, findingsAsText(catalog.findings, settings.manifests, paint))
    if (catalog.problem !== undefined) print(io.stderr, `${settings.manifests}: ${catalog.problem.message}`)
    print(io.stdout, statusTable(resources, paint))
  }
  for (const [key, end] of pass.unsaved)
    print(io.stderr, printable(`pipewright: ${lastWords(key, end).message}`))
  if (pass.bugs.size > 0) return EXIT.bug
  const errors = catalog.findings.some((finding) => finding.severity === 'error')
  const well = resources.every(isWell) && !errors && catalog.problem === undefined && pass.unfinished === 0
  return well ? EXIT.fine : EXIT.failed
}

/** What a pass over everything came to. */
interface Pass {
  /** Reconciles and outcomes that were cut short. */
  readonly unfinished: number
  /** Keys of which a reconcile ended. */
  readonly reconciled: ReadonlySet<Key>
  /** What was thrown where nothing may be thrown. */
  readonly bugs: ReadonlyMap<Key, unknown>
  /** Outcomes of creates that the ledger does not hold. */
  readonly unsaved: ReadonlyMap<Key, CreateEnd>
}

/** Of a key that was not reconciled to the end, only its old status is known: that is not shown as if it were well. */
function showUnreconciled(board: WritableBoard, { reconciled, bugs }: Pass): void {
  for (const status of board.list()) {
    const { key } = status
    if (reconciled.has(key)) continue
    const bug = bugs.get(key)
    const message =
      bug === undefined
        ? 'It is not done: apply was stopped before.'
        : `It is not done, because of a bug of Pipewright: ${bugWords(bug)}. Please report it.`
    board.set({ ...status, status: 'Failed', reason: 'Unobserved', message })
  }
}

function bugWords(bug: unknown): string {
  return bug instanceof Error ? bug.message : String(bug)
}

/** A person at a terminal reads lines, whatever machines are to get. */
function logFormatFor(io: Io, settings: Settings): Settings['logFormat'] {
  return 'isTTY' in io.stderr && io.stderr.isTTY === true ? 'pretty' : settings.logFormat
}

/** Every key is reconciled; services and alerts first, as others wait for them. */
async function passOver(engine: Engine, settings: Settings, io: Io): Promise<Pass> {
  const { context, reconciler, board } = engine
  const { store } = context
  const runs = new Map<Key, number>()
  const waiting = new Set<Key>()
  const reconciled = new Set<Key>()
  const bugs = new Map<Key, unknown>()
  let running = 0
  const { promise: done, resolve: finish } = Promise.withResolvers<void>()
  const dispatcher = createDispatcher({
    clock: context.clock,
    queue: createQueue(),
    concurrency: settings.concurrency,
    emit: context.emit,
    async run({ key, priority }, releaseSlot) {
      waiting.delete(key)
      runs.set(key, (runs.get(key) ?? 0) + 1)
      const request = {
        priority,
        stopping: io.stop.stopping,
        reconcileId: context.newId(),
        changedAt: undefined,
        releaseSlot,
      }
      running += 1
      try {
        const { outcome, also } = await reconciler.reconcile(key, request)
        if (outcome.result === 'stopped') reconciled.delete(key)
        else reconciled.add(key)
        for (const other of also) ask(other)
      } catch (error) {
        if (!io.stop.stopping.aborted) bugs.set(key, error)
        throw error
      } finally {
        running -= 1
        if (waiting.size === 0 && running === 0) finish()
      }
      return undefined
    },
  })
  function ask(key: Key): void {
    if ((runs.get(key) ?? 0) >= MOST_RUNS) return
    waiting.add(key)
    const lifecycle = lifecycleOf(key)
    const first = lifecycle === 'reference' || lifecycle === 'read-only'
    dispatcher.ask(key, { priority: first ? 0 : 1, afterMs: 0, service: serviceQueueOf(store, key) })
  }

  const keys = new Set([
    ...(store.catalog?.entries.keys() ?? []),
    ...[...store.records()].map((record) => record.key),
  ])
  for (const key of [...keys].toSorted()) {
    seedStatus(context, board, key)
    ask(key)
  }
  if (keys.size === 0) finish()
  io.stop.stopping.addEventListener('abort', () => finish(), { once: true })
  if (io.stop.stopping.aborted) finish()
  await done
  const grace = AbortSignal.timeout(settings.shutdownGraceMs)
  const { unfinished } = await dispatcher.stop(AbortSignal.any([grace, io.stop.forced]))
  const unsaved = await reconciler.saveOutcomes()
  return { unfinished: unfinished + waiting.size + unsaved.size, reconciled, bugs, unsaved }
}
