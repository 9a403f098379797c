import { folderOf, stepContext } from '../command-context.ts'
import type { Settings } from '../../config/settings.ts'
import { startActivityNotes } from '../../daemon/activity-notes.ts'
import { keysOf, reconcileAll } from '../../daemon/pass.ts'
import type { Key } from '../../kinds/key.ts'
import { formatDuration } from '../../lib/duration.ts'
import { isStoppedByUs } from '../../plan/run-state.ts'
import { isWell } from '../../plan/severity.ts'
import { createLog } from '../../telemetry/logger.ts'
import { createBoard, seedStatus } from '../../reconcile/state/status-board.ts'
import { outcomeLostEvent } from '../../reconcile/apply/outcome-outbox.ts'
import { desiredBody, type ResourceView } from '../../contract/view.ts'
import { causeOf } from '../../plan/reason.ts'
import { withBodies } from '../../server/shown-resource.ts'
import { type Engine, compose, loadOnce, openLedgerToLead, openSource } from '../compose.ts'
import { type ExitCode, EXIT, type Io, print, printJson } from '../io.ts'
import { findingsAsText } from '../render/findings-text.ts'
import { createProgress, type Progress } from '../render/progress.ts'
import { isTerminal, sheetOf, warn } from '../render/terminal.ts'
import { closingWords, resourceTable } from '../render/status-text.ts'
import { createFileWatch } from '../compose-network.ts'
import { withProblems } from '../reading.ts'
import { readWait, type WaitFlags } from '../usage.ts'
import { wholeFacts } from '../daemon-summary.ts'

export const APPLY_WAIT_MS = 15 * 60_000

export async function apply(
  io: Io,
  settings: Settings,
  flags: WaitFlags & { readonly output: 'text' | 'json'; readonly yes?: true },
): Promise<ExitCode> {
  const { yes = false, output } = flags
  const waitMs = readWait(flags, APPLY_WAIT_MS)
  const here = stepContext(settings)
  const tell = (text: string) => warn(io, text, here)
  await using stack = new AsyncDisposableStack()
  const progress = stack.use(createProgress(io))
  const board = createBoard()
  const log = createLog({
    level: settings.logLevel,
    format: settings.logFormat ?? (isTerminal(io.stderr) ? 'pretty' : 'json'),
    destination: progress.stderr,
    clock: io.clock,
    commands: here,
  })
  stack.defer(() => log.close())
  const { emit } = log
  const { ledger, leadership, term } = await openLedgerToLead(io, settings, emit, stack)
  const source = openSource(settings, io.clock, progress)
  const maxCreates = yes ? Infinity : settings.maxCreates
  const engine = await compose(
    {
      settings,
      ledger,
      source,
      board,
      clock: io.clock,
      emit,
      maxCreates,
      keepsSandbox: true,
      async confirm() {
        // A person chose to apply this revision, so Pipewright counts it as acted on.
        leadership.actOn(engine.context.store.revision)
        return term.confirm()
      },
    },
    stack,
  )
  const catalog = await loadOnce(engine, io.stop.stopping, yes ? 'force' : 'normal')
  await createFileWatch(settings, emit, io.clock)()
  const { store } = engine.context
  const activity = await startActivityNotes({
    command: 'apply',
    ledger,
    store,
    clock: io.clock,
    url: undefined,
    whole: () => wholeFacts(engine, catalog.problem?.message),
  })
  const pass = await passOverAll(engine, settings, { io, progress, waitMs })
  progress[Symbol.dispose]()
  engine.reconciler.problems.flush()
  await activity.stop()
  const resources = shownAfter(board.list(), pass)
  if (output === 'json') {
    printJson(io, {
      revision: catalog.revision,
      problem: catalog.problem && { reason: catalog.problem.reason, message: catalog.problem.message },
      findings: catalog.findings,
      unsettled: waitMs === undefined ? undefined : pass.unsettled,
      resources: resources.map((status) =>
        withBodies(status, desiredBody(settings.profile, catalog.entries.get(status.key)?.manifest), here),
      ),
    })
  } else {
    const sheet = sheetOf(io)
    if (catalog.findings.length > 0)
      print(io.stdout, findingsAsText(catalog.findings, folderOf(settings.manifests), sheet.paint))
    if (catalog.problem !== undefined) tell(`${settings.manifests}: ${catalog.problem.message}`)
    const text = { ...sheet, now: io.clock.now(), form: 'text', here } as const
    const shown = withProblems(resources, io.clock, here)
    print(io.stdout, resourceTable(shown, text, closingWords(shown, catalog.problem !== undefined)))
  }
  if (waitMs !== undefined && pass.unsettled.length > 0) {
    const why = io.stop.stopping.aborted
      ? 'apply was stopped before all was ready'
      : `not ready within ${formatDuration(waitMs)}`
    const unsettled = new Set(pass.unsettled)
    const lines = resources.flatMap(({ key, because }) =>
      unsettled.has(key) ? [`  ${key}: ${causeOf(because, key)}`] : [],
    )
    const hint = 'Changes already made are kept. Wait longer with --timeout, or run "pipewright status".'
    tell([`${why}: ${lines.length} of ${resources.length}. ${hint}`, ...lines].join('\n'))
  }
  const stopped = resources.filter(({ key }) => isStoppedByUs(store.record(key)))
  for (const { key, state } of stopped) {
    const what = `Pipewright stopped ${key} to change it and has not started it again, so it might load no data`
    tell(`${what} (state: ${state ?? 'not known'}). To start ${key}, run apply again, or use the console.`)
  }
  const notFound = resources.filter(({ reason }) => reason === 'MissingUnconfirmed').map(({ key }) => key)
  if (notFound.length > 0) {
    const what = `one read did not find ${notFound.join(', ')} on the platform, but that read might be wrong`
    const again = waitMs === undefined ? 'Run apply with --wait' : 'Wait longer with --timeout'
    tell(`${what}. No replacement was created. ${again}, and apply reads again until the result is certain.`)
  }
  for (const [key, end] of pass.unsaved) tell(outcomeLostEvent(key, end).message)
  if (pass.bugs.size > 0) return EXIT.bug
  const errors = catalog.findings.some((finding) => finding.severity === 'error')
  const isDone =
    pass.unfinished === 0 && pass.unsettled.length === 0 && notFound.length + stopped.length === 0
  const well = resources.every(isWell) && !errors && catalog.problem === undefined && isDone
  return well ? EXIT.fine : EXIT.failed
}

/** Shows a resource as failed if its reconcile did not finish, because its status is old. */
function shownAfter(
  statuses: readonly ResourceView[],
  { reconciled, bugs, unsaved }: Awaited<ReturnType<typeof passOverAll>>,
): readonly ResourceView[] {
  return statuses.map((status) => {
    const { key } = status
    const isSaved = status.reason === 'OutcomeUnsaved' && !unsaved.has(key)
    if (reconciled.has(key) && !isSaved) return status
    const bug = bugs.get(key)
    const said =
      bug === undefined
        ? isSaved
          ? 'The outcome of the create is in the ledger, but the resource was not checked since then. Run apply again. It does not repeat the create.'
          : 'Not done: apply was stopped before this resource. Run apply again.'
        : `Not done, because of a bug in Pipewright: ${bugWords(bug)}. Please report it.`
    return {
      ...status,
      status: 'Failed',
      reason: 'Unobserved',
      because: { reason: 'Unavailable', facts: { said } },
    }
  })
}

function bugWords(bug: unknown): string {
  return bug instanceof Error ? bug.message : String(bug)
}

async function passOverAll(
  { context, reconciler, board }: Engine,
  settings: Settings,
  {
    io,
    progress,
    waitMs,
  }: { readonly io: Io; readonly progress: Progress; readonly waitMs: number | undefined },
) {
  const keys = keysOf(context)
  const done = new Set<Key>()
  for (const key of keys) seedStatus(context, board, key)
  const { stopping } = io.stop
  const deadline = deadlineOf(io, settings)
  let isTold = false
  const pass = await reconcileAll({
    context,
    reconciler,
    concurrency: settings.concurrency,
    stopping,
    deadline,
    urgency: 'normal',
    onReconciled(key) {
      if (done.size < keys.length) progress.show('Reconciling', done.add(key).size, keys.length)
    },
    wait: {
      board,
      waitsFor: waitMs === undefined ? 'started again' : 'all',
      limitMs: waitMs ?? APPLY_WAIT_MS,
      onLook(moving, of) {
        if (waitMs !== undefined && moving.size > 0 && !isTold)
          print(progress.stderr, waitWords([...moving], waitMs))
        isTold ||= moving.size > 0
        progress.show('Waiting until all is ready,', of - moving.size, of)
      },
    },
  })
  const unsaved = await reconciler.saveOutcomes(stopping.aborted ? deadline() : undefined)
  return { ...pass, unfinished: pass.unfinished + unsaved.size, unsaved }
}

function waitWords(keys: readonly Key[], limitMs: number): string {
  const what = keys.length > 3 ? `${keys.length} resources` : keys.join(', ')
  return `pipewright: waiting for ${what}, at most ${formatDuration(limitMs)}.`
}

/** After a stop, all work shares the grace period that began with the stop. */
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
