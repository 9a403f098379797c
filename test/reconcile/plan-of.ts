import type { Plan } from '../../src/contract/plan.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import { makePlan } from '../../src/daemon/planning.ts'
import { openDryWorld } from '../../src/cli/planner.ts'
import type { ReconcileContext } from '../../src/reconcile/context.ts'

const never = new AbortController().signal

/** The plan of a world whose directory was read. @param sourceSecrets as where it is made: `required` where the daemon is */
export async function planOf(
  world: { readonly context: ReconcileContext; readonly ledger: Ledger },
  sourceSecrets: 'optional' | 'required' = 'optional',
): Promise<Plan> {
  const { catalog } = world.context.store
  if (catalog === undefined) throw new Error('the directory was not read')
  await using stack = new AsyncDisposableStack()
  const from = {
    ...world.context,
    ledger: world.ledger,
    sourceSecrets: sourceSecrets === 'optional' ? sourceSecrets : undefined,
  }
  const context = await openDryWorld(from, catalog, stack)
  const plan = await makePlan({
    context,
    manifests: 'manifests',
    concurrency: 1,
    urgency: 'normal',
    settled: new Map(),
    stopping: never,
    onProgress: () => undefined,
  })
  if (plan === undefined) throw new Error('the plan was stopped')
  return plan
}
