import type { Settings } from '../../config/settings.ts'
import { createMemoryLedger } from '../../ledger/memory-backend.ts'
import { ACTION_TYPES } from '../../plan/action.ts'
import { messageOf } from '../../plan/reason.ts'
import { type Ledger, LedgerError } from '../../contract/ledger.ts'
import { type Engine, compose, loadOnce, openBoard, openLedgerAs, openSource } from '../compose.ts'
import { type ExitCode, EXIT, type Io, print, printJson, nobody } from '../io.ts'
import { paintFor } from '../render/terminal.ts'
import { type Plan, type PlanItem, planAsMarkdown, planAsText } from '../render/plan-text.ts'

export const PLAN_OUTPUTS = ['text', 'json', 'markdown'] as const

/** `pipewright plan`: what would happen and why. It reads the platform and the ledger, and writes to neither. */
export async function plan(
  io: Io,
  settings: Settings,
  output: (typeof PLAN_OUTPUTS)[number],
): Promise<ExitCode> {
  await using stack = new AsyncDisposableStack()
  const ledger = stack.use(await ledgerToRead(settings))
  const source = openSource(settings)
  const board = openBoard()
  const engine = await compose(
    { settings, ledger, source, board, emit: nobody, maxCreates: settings.maxCreates },
    stack,
  )
  const planned = await makePlan(engine, settings, io)
  switch (output) {
    case 'json':
      printJson(io, planned)
      break
    case 'markdown':
      print(io.stdout, planAsMarkdown(planned))
      break
    case 'text':
      print(io.stdout, planAsText(planned, paintFor(io.stdout, io.env)))
      break
  }
  return exitOf(planned)
}

/** Without a ledger, every pipe is new: that is what a first run would see. */
async function ledgerToRead(settings: Settings): Promise<Ledger> {
  try {
    return await openLedgerAs('reader', settings, nobody)
  } catch (error) {
    const firstRun =
      error instanceof LedgerError && error.code === 'missing' && settings.ledgerInit === 'auto'
    if (!firstRun) throw error
    return createMemoryLedger({ emit: nobody })
  }
}

async function makePlan(engine: Engine, settings: Settings, io: Io): Promise<Plan> {
  const catalog = await loadOnce(engine, io.stop.stopping)
  const { store, newId } = engine.context
  const keys = [
    ...new Set([...catalog.entries.keys(), ...[...store.records()].map((record) => record.key)]),
  ].toSorted()
  // Nothing is done: what a resource depends on is as the last reconcile left it.
  for (const key of keys) store.judged.add(key)
  const items = await inTurns(keys, settings.concurrency, async (key): Promise<PlanItem> => {
    const request = {
      priority: 0,
      stopping: io.stop.stopping,
      reconcileId: newId(),
      changedAt: undefined,
      // Nobody waits for a slot of a plan.
      releaseSlot: async () => undefined,
    } as const
    const { action, assessment, outcome } = await engine.reconciler.preview(key, request)
    const { input, entry } = assessment
    return {
      key,
      action: action.type,
      reason: outcome.result === 'failed' ? outcome.reason : action.reason,
      message: messageOf(outcome.result === 'failed' ? outcome : action, key),
      differences: action.type === 'report' ? action.differences : [],
      takesAway: action.type === 'upsert' ? action.takesAway : [],
      failed: outcome.result === 'failed',
      file: entry?.position.file ?? input.recorded.file,
      line: entry?.position.line ?? input.recorded.line,
    }
  })
  const counts = Object.fromEntries(
    ACTION_TYPES.map((type) => [type, items.filter((item) => item.action === type).length]),
  )
  const wanted = store.wantedCreations(engine.context.clock.now())
  return {
    revision: catalog.revision.id,
    manifests: settings.manifests,
    problem: catalog.problem?.message,
    brake: { wanted, limit: settings.maxCreates, on: wanted > settings.maxCreates },
    counts,
    items,
    findings: catalog.findings,
  }
}

function exitOf({ items, findings, problem }: Plan): ExitCode {
  const wrong = findings.some((finding) => finding.severity === 'error') || items.some((item) => item.failed)
  if (wrong || problem !== undefined) return EXIT.failed
  const changes = items.some(({ action }) => action === 'create' || action === 'adopt' || action === 'upsert')
  return changes ? EXIT.pending : EXIT.fine
}

/**
 * Applies `task` to every item, at most `concurrency` at a time.
 * @returns the results in the order of the items
 */
export async function inTurns<T, R>(
  items: readonly T[],
  concurrency: number,
  task: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  let next = 0
  async function work(): Promise<void> {
    while (next < items.length) {
      const index = next
      next += 1
      const item = items[index] as T // the index is below the length
      results[index] = await task(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work))
  return results
}
