import type { Settings } from '../../config/settings.ts'
import { openMemoryLedger } from '../../ledger/open-sqlite-ledger.ts'
import {
  endOfPlan,
  type Plan,
  shownPlan,
  MAX_PLAN_BYTES,
  type PlanRequest,
  VERDICTS,
} from '../../contract/plan.ts'
import { type Ledger, LedgerError } from '../../contract/ledger.ts'
import type { Clock } from '../../lib/clock.ts'
import { makePlan } from '../../daemon/planning.ts'
import { composeToLook, openLedgerToRead, openSource, platformName, sayMoved } from '../compose.ts'
import { folderOf } from '../command-context.ts'
import { openDryWorld } from '../planner.ts'
import { type ExitCode, CommandError, EXIT, type Io, print, printJson, nobody, VERSION } from '../io.ts'
import { planAsMarkdown } from '../render/plan-markdown.ts'
import { planAsText } from '../render/plan-text.ts'
import { createProgress, type Progress } from '../render/progress.ts'
import { sheetOf, warn } from '../render/terminal.ts'
import { ACTION_TYPES } from '../../plan/action.ts'
import { z } from '../../kinds/zod.ts'
import { readDirectory, textNow } from '../../manifest/files/read-directory.ts'
import { DEFAULT_LIMITS } from '../../manifest/yaml/limits.ts'
import { networkToOthers } from '../compose-network.ts'
import { adminTokenOf, askServer } from '../server-client.ts'

export async function plan(
  io: Io,
  settings: Settings,
  { output }: { readonly output: 'text' | 'json' | 'markdown' },
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
  if (ledger.rollback !== undefined) warn(io, ledger.rollback, settings)
  stack.use(ledger)
  const source = openSource(settings, io.clock, progress)
  const engine = await composeToLook(io, { settings, ledger, source, accept: 'normal' }, stack)
  // A plan may lack secrets of sources, because perhaps only the daemon has them. The sandbox has all of them.
  const sourceSecrets = settings.sandbox ? undefined : 'optional'
  const context = await openDryWorld({ ...engine.context, sourceSecrets }, engine.catalog, stack)
  const planned = await makePlan({
    context,
    manifests: folderOf(settings.manifests),
    concurrency: settings.concurrency,
    urgency: 'normal',
    settled: new Map(),
    stopping: io.stop.stopping,
    onProgress: (done, of) => progress.show('Planning', done, of),
  })
  if (planned === undefined) throw new CommandError('plan: stopped before all resources were compared.')
  return { ...planned, missingLedger: missing }
}

/** Opens the ledger, or an empty one if there is none. @throws {LedgerError} if the ledger cannot be used */
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

/** ms. Enough for two plans, because the daemon makes one plan at a time. */
const TIMEOUT_MS = 21 * 60_000

async function planAtServer(
  io: Io,
  settings: Settings,
  { server, progress }: { readonly server: string; readonly progress: Progress },
): Promise<Plan> {
  const body = await readRequest(settings, io.stop.stopping)
  if (Buffer.byteLength(JSON.stringify(body)) > MAX_PLAN_BYTES)
    throw new CommandError(
      `plan: the manifests are larger than ${MAX_PLAN_BYTES} bytes as JSON. Plan without --server.`,
    )
  const token = await adminTokenOf(io, settings, 'plan --server')
  progress.show(`Waiting for the plan of ${server}`)
  const address = { command: 'plan', server, network: networkToOthers(settings), token }
  const planned: unknown = await askServer(io, address, { path: 'api/v1/plan', body, timeoutMs: TIMEOUT_MS })
  if (PLAN.safeParse(planned).success) return planned as Plan // as the daemon made it
  throw new CommandError(
    `plan: the reply of ${server} is not a plan of this version (${VERSION}). Use the version of Pipewright that runs there.`,
  )
}

/** Checks only those members of a plan that decide the exit code. */
const PLAN = z.looseObject({
  createLimit: z.looseObject({}),
  checkedBefore: z.looseObject({}),
  items: z.array(z.looseObject({ action: z.enum(ACTION_TYPES), verdict: z.enum(VERDICTS) })),
  findings: z.array(z.looseObject({ severity: z.string() })),
})

/** @throws {CommandError} if a file cannot be sent: the plan would be wrong */
async function readRequest({ manifests, profile }: Settings, signal: AbortSignal): Promise<PlanRequest> {
  const reading = await readDirectory({
    root: manifests,
    profile,
    limits: DEFAULT_LIMITS,
    previous: undefined,
    trust: 'bytes',
    signal,
  })
  const unread = reading.findings.find(({ severity }) => severity === 'error')
  const why = reading.problem?.message ?? (unread && `${unread.file}: ${unread.message}`)
  if (why !== undefined) throw new CommandError(`plan: ${manifests}: ${why}`)
  const files: Record<string, string> = {}
  for (const [file, { findings }] of reading.files) {
    const isText = findings.every(({ code }) => code !== 'not-utf8')
    const text = isText ? textNow(reading, file, DEFAULT_LIMITS) : undefined
    if (text === undefined)
      throw new CommandError(
        `plan: ${manifests}: ${file} ${isText ? 'changed during the read' : 'is not UTF-8'}.`,
      )
    files[file] = text
  }
  return { revision: reading.revision, manifests: folderOf(manifests), files }
}
