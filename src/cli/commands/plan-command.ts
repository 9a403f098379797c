import type { Settings } from '../../config/settings.ts'
import { createMemoryLedger } from '../../ledger/memory-backend.ts'
import { endOfPlan, type MissingLedger, type Plan } from '../../contract/plan.ts'
import { type Ledger, LedgerError } from '../../contract/ledger.ts'
import { makePlan } from '../../daemon/planning.ts'
import { commandsTyped, messageTyped } from '../../server/command-line.ts'
import {
  compose,
  loadOnce,
  openBoard,
  openLedgerToRead,
  openSource,
  platformName,
  sayMoved,
  sayPutBack,
} from '../compose.ts'
import { folderOf, replyContext } from '../command-context.ts'
import { openDryWorld } from '../dry-world.ts'
import { type ExitCode, CommandError, EXIT, type Io, print, printJson, nobody } from '../io.ts'
import { planAtServer } from '../server-plan.ts'
import { planAsMarkdown } from '../render/plan-markdown.ts'
import { planAsText } from '../render/plan-text.ts'
import { createProgress, type Progress } from '../render/progress.ts'
import { paintFor, widthOfTerminal } from '../render/terminal.ts'

export const PLAN_OUTPUTS = ['text', 'json', 'markdown'] as const

/** `pipewright plan`: what would happen and why. It reads the platform and the ledger, and writes to neither. */
export async function plan(
  io: Io,
  settings: Settings,
  output: (typeof PLAN_OUTPUTS)[number],
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
      printJson(io, planned)
      break
    case 'markdown':
      print(io.stdout, planAsMarkdown(planned))
      break
    case 'text':
      print(
        io.stdout,
        planAsText(planTyped(planned, settings), {
          paint: paintFor(io.stdout, io.env),
          width: widthOfTerminal(io.stdout) ?? Infinity,
        }),
      )
      break
  }
  return EXIT_OF[endOfPlan(planned)]
}

/** With the commands in it as they are typed here; a daemon has said them already. */
function planTyped(planned: Plan, settings: Settings): Plan {
  const here = replyContext(settings)
  return {
    ...planned,
    problem: planned.problem && commandsTyped(planned.problem, here),
    items: planned.items.map((item) => messageTyped(item, here)),
  }
}

const EXIT_OF = { nothing: EXIT.fine, changes: EXIT.pending, refused: EXIT.failed } as const

async function planHere(io: Io, settings: Settings, progress: Progress): Promise<Plan> {
  await using stack = new AsyncDisposableStack()
  const { ledger, missing } = await ledgerToRead(settings)
  sayMoved(io, ledger, settings)
  sayPutBack(io, ledger)
  stack.use(ledger)
  const source = openSource(settings, progress)
  const board = openBoard()
  const engine = await compose(
    {
      settings,
      ledger,
      source,
      board,
      emit: nobody,
      maxCreates: settings.maxCreates,
      sandboxUse: 'look',
      confirm: undefined,
    },
    stack,
  )
  const catalog = await loadOnce(engine, io.stop.stopping, 'normal')
  // The sandbox's secrets are where it runs; those of a platform may be mounted elsewhere.
  const sourceSecrets = settings.sandbox ? undefined : 'optional'
  const context = await openDryWorld({ ...engine.context, sourceSecrets }, catalog, stack)
  const result = await makePlan({
    context,
    manifests: folderOf(settings.manifests),
    concurrency: settings.concurrency,
    urgency: 'normal',
    settled: new Map(),
    stopping: io.stop.stopping,
    onProgress: (done, of) => progress.show('Planning', done, of),
  })
  switch (result.is) {
    case 'whole':
      return { ...result.plan, missingLedger: missing }
    case 'stopped':
      throw new CommandError('plan: stopped before everything was looked at.')
    case 'broken':
      throw result.bugs.values().next().value
  }
}

/**
 * The ledger, or an empty one in its place: without a ledger, every pipe is new. That is what a first run would see, and what somebody
 * who has lost it has to know before there is another one.
 * @throws {LedgerError} when there is one that cannot be used
 */
export async function ledgerToRead(
  settings: Settings,
): Promise<{ readonly ledger: Ledger; readonly missing: MissingLedger | undefined }> {
  try {
    const ledger = await openLedgerToRead({ ...settings, platform: platformName(settings) })
    return { ledger, missing: undefined }
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== 'missing') throw error
    const missing = { file: settings.ledger.replace(/^sqlite:/, ''), init: settings.ledgerInit }
    return { ledger: createMemoryLedger({ emit: nobody }), missing }
  }
}
