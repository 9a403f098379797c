import { commandContext, worksWith } from '../command-context.ts'
import { commandLine, commandsTyped } from '../../server/command-line.ts'
import type { Settings } from '../../config/settings.ts'
import { type Daemon, startDaemon } from '../../daemon/daemon.ts'
import { startHeartbeat } from '../../daemon/heartbeat.ts'
import { createLeading } from '../../daemon/leading.ts'
import { createWatcher } from '../../daemon/watcher.ts'
import type { Webhook } from '../../notify/webhook.ts'
import type { Emit, Event } from '../../contract/events.ts'
import { NotLeading, type Term } from '../../contract/leadership.ts'
import { desiredBody } from '../../contract/view.ts'
import { createRecentEvents } from '../../server/recent-events.ts'
import { operationsOf } from '../../kinds/profile.ts'
import { startServer } from '../../server/server.ts'
import { createTelemetry, type ScrapedFacts } from '../../telemetry/telemetry.ts'
import { pipesWithoutManifest } from '../../reconcile/gather/pipes-without-manifest.ts'
import { pipesWithoutLock } from '../../reconcile/state/pipes-without-lock.ts'
import { createBoard } from '../../reconcile/state/status-board.ts'
import { lastWords } from '../../reconcile/apply/outcome-outbox.ts'
import { compose, openLedgerToOwn, openSource } from '../compose.ts'
import { type ExitCode, CommandError, EXIT, type Io, VERSION } from '../io.ts'
import { manifestFacts } from '../shown-manifest.ts'
import { saidBefore, wholeFacts } from '../whole-facts.ts'
import { createTlsWatch, networkOf } from '../compose-network.ts'
import { createMountWatch } from '../mount-watch.ts'
import { overviewOf, standingOf } from '../shown-overview.ts'
import { allowerOf, tokenReader, triggerOf } from '../page-actions.ts'
import { createPlanner } from '../planner.ts'
import { createGreeting } from '../sandbox-greeting.ts'
import { assertWebhook, openWebhook } from '../compose-webhook.ts'

export async function runDaemon(io: Io, settings: Settings): Promise<ExitCode> {
  await assertWebhook(settings)
  await using stack = new AsyncDisposableStack()
  const startedAt = io.clock.now()
  const leading = createLeading({
    clock: io.clock,
    leaseMs: settings.leaseMs,
    revision: () => engine.context.store.revision,
    actOn: (revision) => leadership.actOn(revision),
  })
  const ending = new AbortController()
  const board = createBoard()
  const telemetry = createTelemetry({
    log: {
      level: settings.logLevel,
      format: settings.logFormat,
      destination: io.stdout,
      typed: (text) => commandsTyped(text, commandContext(settings)),
    },
    operations: operationsOf(settings.profile).map(({ name }) => name),
    version: VERSION,
    board: () => (leading.term === undefined ? [] : board.list()),
    facts: () =>
      listening.facts?.() ?? {
        isActing: false,
        withoutLock: 0,
        withoutManifest: undefined,
        problems: [],
        budgetUsed: 0,
      },
    namedResources: settings.namedResources,
    clock: io.clock,
  })
  stack.defer(() => telemetry.close())
  const recentEvents = createRecentEvents(() => io.clock.now())
  const listening: {
    /** Only while this process acts. */
    webhook: (Webhook & AsyncDisposable) | undefined
    greet: ((event: Event) => void) | undefined
    read: (() => Promise<void>) | undefined
    /** Reports a stale checkout once, after the manifests are read. */
    sayOlder: (() => void) | undefined
    facts: (() => ScrapedFacts) | undefined
  } = { webhook: undefined, greet: undefined, read: undefined, sayOlder: undefined, facts: undefined }
  const emit: Emit = (event) => {
    telemetry.emit(event)
    recentEvents.add(event)
    listening.webhook?.observe(event)
    listening.greet?.(event)
    leading.observe(event)
    if (event.type !== 'SourceLoaded') return
    void listening.read?.()
    if (event.problem === undefined) listening.sayOlder?.()
  }

  const { ledger, leadership, notes } = await openLedgerToOwn(settings, { clock: io.clock, emit })
  stack.use(ledger)
  const source = openSource(settings, io.clock)
  const engine = await compose(
    {
      settings,
      ledger,
      source,
      board,
      clock: io.clock,
      emit,
      maxCreates: settings.maxCreates,
      sandboxUse: 'keep',
      confirm: () => leading.confirm(),
      assertMayAct: () => leading.assertMayAct(),
      olderThan: () => leading.olderThan,
    },
    stack,
  )
  listening.facts = () => ({
    isActing: leading.isActing,
    withoutLock: pipesWithoutLock(engine.context.store),
    withoutManifest: pipesWithoutManifest(engine.context),
    problems: engine.reconciler.problems.reported() ?? [],
    budgetUsed: Math.max(
      0,
      ...engine.platform.budgets().map(({ used }) => used / settings.apiBudget.requests),
    ),
  })

  // The server listens first: early requests get a "starting" reply.
  const running: { daemon: Daemon | undefined } = { daemon: undefined }
  const { adminTokenFile } = settings
  const adminToken = adminTokenFile === undefined ? undefined : tokenReader(adminTokenFile)
  const server = await startServer({
    profile: settings.profile,
    listen: settings.listen,
    metricsListen: settings.metricsListen,
    hosts: { allowed: settings.allowedHosts ?? [], publicUrl: settings.publicUrl },
    emit,
    clock: io.clock,
    board,
    problem: (key) => engine.reconciler.problems.of(key),
    desired: (key) => desiredBody(settings.profile, engine.context.store.entry(key)?.manifest),
    manifest: (key) => manifestFacts(engine.context, key),
    history: (query) => ledger.history(query),
    recentEvents,
    metrics: telemetry.metrics,
    health: () => running.daemon?.health() ?? { ok: true, detail: 'starting' },
    ready: () => running.daemon?.ready() ?? { ok: false, detail: 'starting' },
    overview: () => ({
      ...overviewOf(settings, engine, running.daemon, startedAt),
      ...standingOf(leading, leadership),
      ledgerRollback: ledger.rollback,
    }),
    allow: adminToken && allowerOf(adminToken, engine, () => running.daemon),
    reconcile: adminToken && triggerOf(adminToken, () => running.daemon),
    planner: adminToken && createPlanner(engine, settings, { adminToken, stopping: io.stop.stopping }),
  }).catch((error: unknown) => {
    throw new CommandError(error instanceof Error ? error.message : String(error))
  })
  stack.defer(() => server.close())

  emit({
    type: 'Started',
    version: VERSION,
    sandbox: settings.sandbox,
    listen: server.url,
    metricsListen: server.metricsUrl,
    manifests: settings.manifests,
    baseUrl: engine.baseUrl,
  })
  if (settings.sandbox) {
    const { url: page } = server
    listening.greet = createGreeting({ board, emit, clock: io.clock, page, platform: engine.baseUrl })
  }
  const mounts = createMountWatch(settings, emit)
  const tls = createTlsWatch(networkOf(settings).tls, emit, io.clock)
  listening.read = async () => {
    await Promise.all([mounts.look(engine.context.store.catalog), tls.look()])
  }
  const heartbeat = await startHeartbeat({
    command: 'run',
    ledger,
    store: engine.context.store,
    clock: io.clock,
    url: server.url,
    worksWith: worksWith(settings),
    whole: () => ({
      ...wholeFacts(engine, running.daemon?.sourceProblem),
      revisionSince: running.daemon?.revisionSince,
    }),
  })
  await act(await unlessStopped(leadership.attempt(io.stop.stopping)))
  const daemon = await startDaemon({
    isActing: leading.term !== undefined,
    lateForMs: () => leading.term?.lateForMs,
    context: engine.context,
    board,
    reconciler: engine.reconciler,
    source,
    concurrency: settings.concurrency,
    renewed: () => engine.platform.renewed(),
    probeNow: (service) => engine.platform.probeNow(service),
    forgetSecrets: engine.forgetSecrets,
    noteChecks: () => heartbeat.noteChecks(),
    onAccept: () => leading.trust(),
    saidBefore: (catalog) => saidBefore(heartbeat.before, catalog),
    watch: (onTrigger) => createWatcher({ root: settings.manifests, clock: io.clock, onTrigger, emit }),
  })
  running.daemon = daemon
  io.stop.onHangup(() => {
    daemon.request(undefined, 'force')
  })

  const standing =
    leading.term === undefined ? standBy().catch((error: unknown) => ending.abort(error)) : undefined
  const signalName = await aborted(AbortSignal.any([io.stop.stopping, ending.signal]))
  emit({ type: 'Stopping', signal: signalName })
  const deadline = AbortSignal.any([AbortSignal.timeout(settings.shutdownGraceMs), io.stop.forced])
  await Promise.race([standing, aborted(deadline)])
  const cut = await daemon.stop(deadline)
  engine.reconciler.problems.flush()
  const unsaved = await engine.reconciler.saveOutcomes(deadline)
  const unfinished = cut.unfinished + unsaved.size
  const typed = (args: string) => commandLine(args, commandContext(settings))
  // Before slower steps: a forced end must not lose these messages.
  for (const [key, end] of unsaved) emit(lastWords(key, end, typed))
  await heartbeat.stop()
  await Promise.race([listening.webhook?.stop(deadline), aborted(deadline)])
  await leading.term?.release()
  emit({ type: 'Stopped', unfinished })
  if (ending.signal.reason instanceof Error && !(ending.signal.reason instanceof NotLeading))
    throw ending.signal.reason
  return unfinished === 0 && !ending.signal.aborted ? EXIT.fine : EXIT.failed

  /** As leader: enables the webhook, and ends on a takeover by another process. */
  async function act(term: Term | undefined): Promise<void> {
    if (term === undefined) return
    leading.begin(term)
    // Released at the end.
    if (io.stop.stopping.aborted) return
    const { epoch, over } = term
    const acting = (olderThan: string | undefined) =>
      tellLeadership('acting', { epoch, holder: leadership.leader()?.holder }, olderThan)
    acting(running.daemon && leading.olderThan)
    if (running.daemon === undefined)
      listening.sayOlder = () => {
        listening.sayOlder = undefined
        if (leading.olderThan !== undefined) acting(leading.olderThan)
      }
    const onOver = () => {
      if (io.stop.stopping.aborted) return
      tellLeadership('taken over', leadership.leader())
      ending.abort(over.reason)
    }
    if (over.aborted) onOver()
    over.addEventListener('abort', onOver)
    const end = AbortSignal.any([io.stop.stopping, over])
    const opened = await openWebhook(settings, { engine, notes, emit, confirm: () => term.confirm() }, end)
    if (opened !== undefined) listening.webhook = stack.use(opened)
  }

  function tellLeadership(
    is: 'acting' | 'standing by' | 'taken over',
    leader: { readonly epoch: number; readonly holder: string | undefined } | undefined,
    olderThan?: string,
  ): void {
    const { isShared } = leadership
    emit({
      type: 'LeadershipChanged',
      is,
      isShared,
      epoch: leader?.epoch,
      leader: leader?.holder,
      olderThan,
    })
  }

  async function unlessStopped<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work
    } catch (error) {
      if (io.stop.stopping.aborted) return undefined
      throw error
    }
  }

  async function standBy(): Promise<void> {
    tellLeadership('standing by', leadership.leader())
    const acquiring = leadership.acquire(io.stop.stopping, 'wait', (revision) => leading.noteLeader(revision))
    await act(await unlessStopped(acquiring))
    if (!io.stop.stopping.aborted) await daemon.act()
  }
}

function aborted(signal: AbortSignal): Promise<string> {
  return new Promise((settle) => {
    if (signal.aborted) settle(String(signal.reason))
    signal.addEventListener('abort', () => settle(String(signal.reason)), { once: true })
  })
}
