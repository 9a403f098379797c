import { commandContext, folderOf, worksWith } from '../command-context.ts'
import { commandLine, commandsTyped } from '../../server/command-line.ts'
import type { Settings } from '../../config/settings.ts'
import { startHeartbeat } from '../../daemon/heartbeat.ts'
import { keysOf, passOver, type Pass } from '../../daemon/pass.ts'
import { isChange, settle, type Settled } from '../../daemon/settle.ts'
import { systemClock } from '../../daemon/system-clock.ts'
import type { Leadership, Term } from '../../contract/leadership.ts'
import type { Key } from '../../kinds/key.ts'
import { formatDuration } from '../../lib/duration.ts'
import { isStoppedByUs } from '../../plan/rest.ts'
import { isWell } from '../../plan/severity.ts'
import { createLogging } from '../../telemetry/telemetry.ts'
import { seedStatus, type WritableBoard } from '../../reconcile/state/status-board.ts'
import { lastWords, type CreateEnd } from '../../reconcile/apply/outcome-outbox.ts'
import { desiredBody, withBodies } from '../../contract/status.ts'
import { type Engine, compose, loadOnce, openBoard, openLedgerToOwn, openSource } from '../compose.ts'
import { CommandError, type ExitCode, EXIT, type Io, print, printJson } from '../io.ts'
import { failpointsOf } from '../failpoints.ts'
import { findingsAsText } from '../render/findings-text.ts'
import { createProgress, type Progress } from '../render/progress.ts'
import { paintFor, printable, widthOfTerminal } from '../render/terminal.ts'
import { resourceTable } from '../render/status-text.ts'
import { createTlsWatch, networkOf } from '../compose-network.ts'
import { createMountWatch } from '../mount-watch.ts'
import { viewOfStatus } from '../resource-view.ts'
import { wholeFacts } from '../whole-facts.ts'

export const APPLY_OUTPUTS = ['text', 'json'] as const

export interface ApplyOptions {
  readonly output: (typeof APPLY_OUTPUTS)[number]
  readonly createLimit: 'on' | 'off'
  /** Undefined: does not wait for what is on its way after the pass. Otherwise so long at most, ms. */
  readonly waitMs: number | undefined
}

/** `pipewright apply`: one pass over everything, then exit. With `--yes`, there is no create limit. */
export async function apply(io: Io, settings: Settings, options: ApplyOptions): Promise<ExitCode> {
  const here = commandContext(settings)
  await using stack = new AsyncDisposableStack()
  const progress = stack.use(createProgress(io))
  const board = openBoard()
  const logging = createLogging({
    log: { level: settings.logLevel, format: logFormatFor(io, settings), destination: progress.stderr },
    clock: systemClock,
  })
  stack.defer(() => logging.close())
  const { emit } = logging
  const failpoints = failpointsOf(io.env, emit)
  const { ledger, leadership } = await openLedgerToOwn(settings, emit, failpoints)
  stack.use(ledger)
  const term = await lead(leadership, io)
  stack.defer(() => term.release())
  const source = openSource(settings, progress)
  const maxCreates = options.createLimit === 'off' ? Infinity : settings.maxCreates
  const engine = await compose(
    {
      settings,
      ledger,
      source,
      board,
      emit,
      maxCreates,
      sandboxUse: 'keep',
      failpoints,
      async confirm() {
        // A person, or a job, says that this is what is to be: whoever acts next knows it.
        leadership.actOn(engine.context.store.revision)
        return term.confirm()
      },
    },
    stack,
  )
  const catalog = await loadOnce(engine, io.stop.stopping, options.createLimit === 'off' ? 'force' : 'normal')
  await createMountWatch(settings, emit).look(catalog)
  await createTlsWatch(networkOf(settings).tls, emit, systemClock).look()
  const { store } = engine.context
  const heartbeat = await startHeartbeat({
    command: 'apply',
    ledger,
    store,
    clock: systemClock,
    url: undefined,
    worksWith: worksWith(settings),
    whole: () => wholeFacts(engine, catalog.problem?.message),
  })
  const pass = await passOverAll(engine, settings, { io, progress, waitMs: options.waitMs })
  progress[Symbol.dispose]()
  engine.reconciler.problems.flush()
  await heartbeat.stop()
  showUnreconciled(board, pass)
  const resources = board.list()
  if (options.output === 'json') {
    printJson(io, {
      revision: catalog.revision,
      problem: catalog.problem && { reason: catalog.problem.reason, message: catalog.problem.message },
      findings: catalog.findings,
      unsettled: options.waitMs === undefined ? undefined : pass.unsettled,
      resources: resources.map((status) =>
        withBodies(status, desiredBody(settings.profile, catalog.entries.get(status.key)?.manifest)),
      ),
    })
  } else {
    const paint = paintFor(io.stdout, io.env)
    if (catalog.findings.length > 0)
      print(io.stdout, findingsAsText(catalog.findings, folderOf(settings.manifests), paint))
    if (catalog.problem !== undefined) print(io.stderr, `${settings.manifests}: ${catalog.problem.message}`)
    const width = widthOfTerminal(io.stdout)
    print(
      io.stdout,
      resourceTable(resources.map(viewOfStatus), {
        now: systemClock.now(),
        paint,
        width,
        form: 'text',
        here,
      }),
    )
  }
  if (options.waitMs !== undefined && pass.unsettled.length > 0) {
    const why = io.stop.stopping.aborted
      ? 'apply was stopped before all was ready'
      : `not ready within ${formatDuration(options.waitMs)}`
    const lines = pass.unsettled.map((key) => `  ${key}: ${board.get(key)?.message ?? ''}`)
    const hint = 'What was applied stays. Wait longer with --timeout, or look with "pipewright status".'
    print(
      io.stderr,
      printable(
        commandsTyped(
          [`pipewright: ${why}: ${lines.length} of ${resources.length}. ${hint}`, ...lines].join('\n'),
          here,
        ),
      ),
    )
  }
  const stopped = resources.filter(({ key }) => isStoppedByUs(store.record(key)))
  for (const { key, state } of stopped) {
    const what = `${key} was stopped for a change and was not started again: its state is ${state ?? 'not known'}.`
    print(
      io.stderr,
      printable(`pipewright: ${what} Run apply again: it starts it. Or start it in the console.`),
    )
  }
  const notFound = resources.filter(({ reason }) => reason === 'MissingUnconfirmed').map(({ key }) => key)
  if (notFound.length > 0) {
    const what = `not found on the platform, and one reading is no proof: ${notFound.join(', ')}`
    print(io.stderr, `pipewright: ${what}. Run apply with --wait, which reads again until it is clear.`)
  }
  for (const [key, end] of pass.unsaved)
    print(
      io.stderr,
      printable(`pipewright: ${lastWords(key, end, (args) => commandLine(args, here)).message}`),
    )
  if (pass.bugs.size > 0) return EXIT.bug
  const errors = catalog.findings.some((finding) => finding.severity === 'error')
  const isDone =
    pass.unfinished === 0 && pass.unsettled.length === 0 && notFound.length + stopped.length === 0
  const well = resources.every(isWell) && !errors && catalog.problem === undefined && isDone
  return well ? EXIT.fine : EXIT.failed
}

/** The right to act; while another process may have it, it is said who that is. @throws {CommandError} when it is stopped meanwhile */
async function lead(leadership: Leadership, io: Io): Promise<Term> {
  try {
    const term = await leadership.attempt(io.stop.stopping)
    if (term !== undefined) return term
    const holder = leadership.leader()?.holder ?? 'Another process'
    print(
      io.stderr,
      `pipewright: ${holder} has the ledger. Waiting until it is known whether that one still runs.`,
    )
    return await leadership.acquire(io.stop.stopping, 'refuse')
  } catch (error) {
    if (!io.stop.stopping.aborted) throw error
    throw new CommandError(`stopped by ${String(io.stop.stopping.reason)} before anything was applied`)
  }
}

/** What a pass over everything came to. */
interface Applied extends Pass {
  /** Outcomes of creates that the ledger does not hold. */
  readonly unsaved: ReadonlyMap<Key, CreateEnd>
  /** Those that it took late. */
  readonly saved: ReadonlySet<Key>
  /** Keys that were waited for in vain. */
  readonly unsettled: readonly Key[]
}

/** Of a key that was not reconciled to the end, only its old status is known: that is not shown as if it were well. */
function showUnreconciled(board: WritableBoard, { reconciled, bugs, saved }: Applied): void {
  for (const status of board.list()) {
    const { key } = status
    if (reconciled.has(key)) continue
    const bug = bugs.get(key)
    const message =
      bug === undefined
        ? saved.has(key)
          ? 'What became of its create is in the ledger. It was not looked at again: apply was stopped before.'
          : 'It is not done: apply was stopped before.'
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

/** Every key is reconciled, and what could not be written is tried for a while more. */
async function passOverAll(
  engine: Engine,
  settings: Settings,
  {
    io,
    progress,
    waitMs,
  }: { readonly io: Io; readonly progress: Progress; readonly waitMs: ApplyOptions['waitMs'] },
): Promise<Applied> {
  const { context, reconciler, board } = engine
  const keys = keysOf(context)
  const done = new Set<Key>()
  const changed = new Set<Key>()
  for (const key of keys) seedStatus(context, board, key)
  const parts = {
    context,
    reconciler,
    concurrency: settings.concurrency,
    stopping: io.stop.stopping,
    deadline: deadlineOf(io, settings),
  }
  const passOverRest = (settled: ReadonlySet<Key>) =>
    passOver({
      ...parts,
      urgency: 'normal',
      settled,
      onStart: () => undefined,
      onReconciled(key, result) {
        if (isChange(result)) changed.add(key)
        progress.show('Reconciling', done.add(key).size, keys.length)
      },
    })
  let pass = await passOverRest(new Set())
  const saved = new Set<Key>()
  /**
   * Writes what the ledger did not take before, and looks again at that, and at what waits for others.
   * @returns what it still does not take
   */
  const saveOutcomes = async (until: AbortSignal | undefined) => {
    const unsaved = await reconciler.saveOutcomes(until)
    const isLate = (key: Key) => board.get(key)?.reason === 'OutcomeUnsaved' && !unsaved.has(key)
    const late = new Set(keys.filter(isLate))
    if (late.size === 0) return unsaved
    for (const key of late) saved.add(key)
    const isDue = (key: Key) => late.has(key) || board.get(key)?.reason === 'DependencyNotReady'
    const again = await passOverRest(new Set(keys.filter((key) => !isDue(key))))
    const before = [...pass.reconciled].filter((key) => !late.has(key))
    pass = {
      unfinished: pass.unfinished + again.unfinished,
      reconciled: new Set([...before, ...again.reconciled]),
      bugs: new Map([...pass.bugs, ...again.bugs]),
    }
    return reconciler.saveOutcomes(until)
  }
  let unsaved = await saveOutcomes(parts.deadline())
  let settled = NOT_WAITED
  if (waitMs !== undefined || keys.some((key) => isStoppedByUs(context.store.record(key)))) {
    settled = await settle({
      ...parts,
      board,
      changed,
      waitsFor: waitMs === undefined ? 'started again' : 'all',
      waitMs: waitMs ?? START_WAIT_MS,
      onLook: (count, of) => progress.show('Waiting until all is ready,', count, of),
    })
    // A ledger that was waited for in vain is not waited for once more.
    unsaved = await saveOutcomes(unsaved.size === 0 ? parts.deadline() : undefined)
  }
  return {
    ...pass,
    unfinished: pass.unfinished + settled.unfinished + unsaved.size,
    bugs: new Map([...pass.bugs, ...settled.bugs]),
    unsettled: settled.unsettled,
    unsaved,
    saved,
  }
}

/** Until when what runs may go on; from a stop on it is the same for all that is still to be ended. */
function deadlineOf({ stop }: Io, { shutdownGraceMs }: Settings): () => AbortSignal {
  const fromNow = () => AbortSignal.any([AbortSignal.timeout(shutdownGraceMs), stop.forced])
  let ofStop: AbortSignal | undefined
  const begin = () => {
    ofStop = fromNow()
  }
  if (stop.stopping.aborted) begin()
  else stop.stopping.addEventListener('abort', begin, { once: true })
  return () => ofStop ?? fromNow()
}

/** `apply` waits so long for what it has stopped: ms. */
const START_WAIT_MS = 10 * 60_000

const NOT_WAITED: Settled = { unsettled: [], unfinished: 0, bugs: new Map() }
