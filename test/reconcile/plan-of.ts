import type { Plan } from '../../src/contract/plan.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import { makePlan } from '../../src/daemon/planning.ts'
import { copyLedger } from '../../src/cli/dry-world.ts'
import { createDryContext } from '../../src/reconcile/dry-run/dry-context.ts'
import type { ReconcileContext } from '../../src/reconcile/context.ts'

const never = new AbortController().signal

/** The plan of a world whose directory was read. @param sourceSecrets as where it is made: `required` where the daemon is */
export async function planOf(
  world: { readonly context: ReconcileContext; readonly ledger: Ledger },
  sourceSecrets: 'optional' | 'required' = 'optional',
): Promise<Plan> {
  const { catalog } = world.context.store
  if (catalog === undefined) throw new Error('the directory was not read')
  const copy = await copyLedger(world.ledger)
  const context = await createDryContext(
    {
      ...world.context,
      sourceSecrets: sourceSecrets === 'optional' ? sourceSecrets : undefined,
    },
    { copy, catalog },
  )
  const result = await makePlan({
    context,
    manifests: 'manifests',
    concurrency: 1,
    urgency: 'normal',
    settled: new Map(),
    stopping: never,
    onProgress: () => undefined,
  })
  if (result.is !== 'whole') throw new Error(`the plan is ${result.is}`)
  return result.plan
}
