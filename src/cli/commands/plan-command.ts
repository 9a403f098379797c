import type { Settings } from '../../config/settings.ts'
import { openMemoryLedger } from '../../ledger/sqlite-ledger.ts'
import { endOfPlan, type Plan, shownPlan } from '../../contract/plan.ts'
import { type Ledger, LedgerError } from '../../contract/ledger.ts'
import type { Clock } from '../../lib/clock.ts'
import { makePlan } from '../../daemon/planning.ts'
import { composeToLook, loadOnce, openLedgerToRead, openSource, platformName, sayMoved } from '../compose.ts'
import { folderOf } from '../command-context.ts'
import { openDryWorld } from '../dry-world.ts'
import { type ExitCode, CommandError, EXIT, type Io, print, printJson, nobody } from '../io.ts'
import { planAtServer } from '../server-plan.ts'
import { planAsMarkdown } from '../render/plan-markdown.ts'
import { planAsText } from '../render/plan-text.ts'
import { createProgress, type Progress } from '../render/progress.ts'
import { sheetOf } from '../render/terminal.ts'

export const PLAN_OUTPUTS = ['text', 'json', 'markdown'] as const

/** Shows reasons too. Writes only to memory. */
export async function plan(
  io: Io,
  settings: Settings,
  { output }: { readonly output: (typeof PLAN_OUTPUTS)[number] },
): Promise<ExitCode> {
  using progress = createProgress(io)
  const { server } = settings
  const planned =
    server === undefined
      ? await planHere(io, settings, progress)
      : await planAtServer(io, settings, { server, progress })
  progress[Symbol.dispose]()
  switch (output) {
    case 'json':
      printJson(io, shownPlan(planned, settings))
      break
    case 'markdown':
      print(io.stdout, planAsMarkdown(planned))
      break
    case 'text':
      print(io.stdout, planAsText(planned, sheetOf(io), settings))
      break
  }
  return EXIT_OF[endOfPlan(planned)]
}

const EXIT_OF = { nothing: EXIT.fine, changes: EXIT.pending, refused: EXIT.failed } as const

async function planHere(io: Io, settings: Settings, progress: Progress): Promise<Plan> {
  await using stack = new AsyncDisposableStack()
  const { ledger, missing } = await ledgerToRead(settings, io.clock)
  sayMoved(io, ledger, settings)
  if (ledger.rollback !== undefined) print(io.stderr, `pipewright: ${ledger.rollback}`)
  stack.use(ledger)
  const engine = await composeToLook(
    { settings, clock: io.clock, ledger, source: openSource(settings, io.clock, progress) },
    stack,
  )
  const catalog = await loadOnce(engine, io.stop.stopping, 'normal')
  // Real secrets might be mounted elsewhere; the sandbox's are here.
  const sourceSecrets = settings.sandbox ? undefined : 'optional'
  const context = await openDryWorld({ ...engine.context, sourceSecrets }, catalog, stack)
  const planned = await makePlan({
    context,
    manifests: folderOf(settings.manifests),
    concurrency: settings.concurrency,
    urgency: 'normal',
    settled: new Map(),
    stopping: io.stop.stopping,
    onProgress: (done, of) => progress.show('Planning', done, of),
  })
  if (planned === undefined) throw new CommandError('plan: stopped before everything was looked at.')
  return { ...planned, missingLedger: missing }
}

/** Empty if missing: the plan then shows every pipe as new. @throws {LedgerError} if it cannot be used */
export async function ledgerToRead(
  settings: Settings,
  clock: Clock,
): Promise<{ readonly ledger: Ledger; readonly missing: Plan['missingLedger'] }> {
  try {
    const ledger = await openLedgerToRead({ ...settings, platform: platformName(settings) }, clock)
    return { ledger, missing: undefined }
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== 'missing') throw error
    const missing = { file: settings.ledger.replace(/^sqlite:/, ''), init: settings.ledgerInit }
    return { ledger: openMemoryLedger({ emit: nobody }).ledger, missing }
  }
}
