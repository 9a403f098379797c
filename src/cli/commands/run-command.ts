import type { Settings } from '../../config/settings.ts'
import { createDaemon } from '../../daemon/daemon.ts'
import { startActivityNotes } from '../../daemon/activity-notes.ts'
import { createLeaderState, type Leading } from '../../daemon/leader-state.ts'
import { createWatcher } from '../../daemon/watcher.ts'
import { createEventBus, type Emit } from '../../contract/events.ts'
import { NotLeading } from '../../contract/leadership.ts'
import { createRecentEvents } from '../../server/recent-events.ts'
import { operationsOf } from '../../kinds/profile.ts'
import type { Server } from '../../server/server.ts'
import { createTelemetry } from '../../telemetry/telemetry.ts'
import { pipesWithoutManifest } from '../../reconcile/gather/pipes-without-manifest.ts'
import { pipesWithoutLock } from '../../reconcile/state/recorded.ts'
import { createBoard, type WritableBoard } from '../../reconcile/state/status-board.ts'
import { outcomeLostEvent } from '../../reconcile/apply/outcome-outbox.ts'
import { compose, type DaemonRun, type Engine, openLedgerToOwn, openSource } from '../compose.ts'
import { startPage } from '../compose-server.ts'
import { type ExitCode, EXIT, type Io, VERSION } from '../io.ts'
import { createLeadershipRun } from '../leadership-run.ts'
import { saidBefore, wholeFacts } from '../daemon-summary.ts'
import { createFileWatch } from '../compose-network.ts'
import { assertWebhook } from '../compose-webhook.ts'
import { aborted } from '../../lib/clock.ts'

export async function runDaemon(io: Io, settings: Settings): Promise<ExitCode> {
  await assertWebhook(settings)
  await using stack = new AsyncDisposableStack()
  const { clock, stop } = io
  const startedAt = clock.now()
  const board = createBoard()
  const events = createEventBus()
  const { emit } = events
  const leading = createLeaderState({
    clock,
    revision: () => engine.context.store.revision,
    actOn: (revision) => leadership.actOn(revision),
  })
  const telemetry = openTelemetry(io, settings, { board, leading, engine: () => engine })
  stack.defer(() => telemetry.close())
  const recentEvents = createRecentEvents(() => clock.now())
  for (const listener of [telemetry.emit, recentEvents.add, leading.observe]) events.listen(listener)

  const { ledger, leadership, notes } = await openLedgerToOwn(settings, {
    clock,
    emit,
    patienceMs: COMMAND_MS,
  })
  stack.use(ledger)
  const source = openSource(settings, clock)
  const { maxCreates } = settings
  const { confirm, assertMayAct } = leading
  const olderThan = () => leading.olderThan
  const acting = { confirm, assertMayAct, olderThan, maxCreates, keepsSandbox: true } as const
  const engine = await compose({ settings, ledger, source, board, clock, emit, ...acting }, stack)
  const daemon = createDaemon({
    ...engine,
    lateForMs: () => leading.term?.lateForMs,
    concurrency: settings.concurrency,
    renewed: () => engine.platform.renewed(),
    probeNow: (service) => engine.platform.probeNow(service),
    onAccept: () => leading.trust(),
    saidBefore: (catalog) => saidBefore(activity.before, catalog),
    watch: (onTrigger) => createWatcher({ root: settings.manifests, clock, onTrigger, emit }),
  })
  // The server listens before the daemon is ready, so early requests get a "starting" reply.
  const run = { settings, stop, events, leading, leadership, notes, engine, daemon }
  const server = await startPage(run, { recentEvents, metrics: telemetry.metrics, startedAt })
  stack.defer(() => server.close())
  tellStart(run, server)
  const activity = await startActivityNotes({
    command: 'run',
    ledger,
    store: engine.context.store,
    clock,
    url: server.url,
    whole: () => ({ ...wholeFacts(engine, daemon.sourceProblem), revisionSince: daemon.revisionSince }),
  })
  events.listen(({ type }) => {
    if (type === 'SourceLoaded' || type === 'SourceFailed') activity.noteRead()
  })
  const leader = stack.use(createLeadershipRun(run))
  const { standing } = await leader.begin()
  stop.onHangup(() => void daemon.request(undefined, 'force'))
  const ending = AbortSignal.any([stop.stopping, leader.ended])
  await aborted(ending)
  emit({ type: 'Stopping', signal: String(ending.reason) })
  return await end(run, { activity, leader, standing })
}

async function end(
  { settings, stop, events, engine, daemon, leading }: DaemonRun,
  {
    activity,
    leader,
    standing,
  }: {
    readonly activity: Awaited<ReturnType<typeof startActivityNotes>>
    readonly leader: ReturnType<typeof createLeadershipRun>
    readonly standing: Promise<void> | undefined
  },
): Promise<ExitCode> {
  const deadline = AbortSignal.any([AbortSignal.timeout(settings.shutdownGraceMs), stop.forced])
  await Promise.race([standing, aborted(deadline)])
  const cut = await daemon.stop(deadline)
  engine.reconciler.problems.flush()
  const unsaved = await engine.reconciler.saveOutcomes(deadline)
  const unfinished = cut.unfinished + unsaved.size
  // Comes before slower steps, because a forced end must not lose these messages.
  for (const [key, how] of unsaved) events.emit(outcomeLostEvent(key, how))
  await activity.stop()
  await Promise.race([leader.flush(deadline), aborted(deadline)])
  await leading.term?.release()
  events.emit({ type: 'Stopped', unfinished })
  const { reason, aborted: isEnded } = leader.ended
  if (reason instanceof Error && !(reason instanceof NotLeading)) throw reason
  return unfinished === 0 && !isEnded ? EXIT.fine : EXIT.failed
}

function openTelemetry(
  { clock, stdout }: Io,
  settings: Settings,
  parts: { readonly board: WritableBoard; readonly leading: Leading; readonly engine: () => Engine },
) {
  const { board, leading } = parts
  return createTelemetry({
    log: {
      level: settings.logLevel,
      format: settings.logFormat ?? 'json',
      destination: stdout,
      commands: settings,
    },
    operations: operationsOf(settings.profile).map(({ name }) => name),
    version: VERSION,
    board: () => (leading.term === undefined ? [] : board.list()),
    facts() {
      const { context, reconciler, platform } = parts.engine()
      const used = platform.budgets().map((budget) => budget.used / settings.apiBudget.requests)
      return {
        isActing: leading.isActing,
        withoutLock: pipesWithoutLock(context.store),
        withoutManifest: pipesWithoutManifest(context),
        problems: reconciler.problems.reported() ?? [],
        budgetUsed: Math.max(0, ...used),
      }
    },
    namedResources: settings.namedResources,
    clock,
  })
}

function tellStart({ settings, engine, events }: DaemonRun, { url, metricsUrl }: Server): void {
  const { emit, listen } = events
  const { sandbox, manifests } = settings
  const place = { listen: url, metricsListen: metricsUrl, manifests, baseUrl: engine.baseUrl }
  emit({ type: 'Started', version: VERSION, sandbox, ...place })
  if (sandbox) listen(createGreeting(engine, url))
  const lookAtFiles = createFileWatch(settings, emit, engine.context.clock)
  listen((event) => {
    if (event.type === 'SourceLoaded') void lookAtFiles()
  })
}

/** Longest wait for a command that owns the ledger meanwhile, such as `pipewright resolve`: ms. */
const COMMAND_MS = 5_000

/** ms. A resource is in progress if its next check is sooner, because new pipes are checked often. */
const SOON_MS = 10_000

/** @returns an event listener that emits `SandboxReady` once, when no resource is in progress */
function createGreeting({ board, baseUrl, context: { clock, emit } }: Engine, url: string): Emit {
  let isSaid = false
  return ({ type }) => {
    if (isSaid || type !== 'ReconcileFinished') return
    const all = board.list()
    const isPending = all.some(({ dueAt = 0 }) => dueAt < clock.monotonic() + SOON_MS)
    if (isPending || all.length === 0) return
    isSaid = true
    emit({ type: 'SandboxReady', page: `${url}/`, platform: baseUrl })
  }
}
