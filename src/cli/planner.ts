import { createdOf } from '../reconcile/state/store.ts'
import { makePlan } from '../daemon/planning.ts'
import { catalogOfTree } from '../manifest/tree-catalog.ts'
import type { Settings } from '../config/settings.ts'
import type { FileTree } from '../contract/plan.ts'
import type { Planner, PlanAnswer } from '../server/parts.ts'
import { type Engine, ownSecretsOf } from './compose.ts'
import { openDryWorld } from './dry-world.ts'

/** A plan takes as long as the request budget lets it, and not for ever: ms. */
const LONGEST_MS = 10 * 60_000

/**
 * Plans for a daemon: with its ledger, its secrets and its request budget, behind all that it does itself. Nothing of what is
 * found out, or refused, on the way changes what the daemon knows.
 */
export function createPlanner(
  { context, platform }: Engine,
  settings: Settings,
  { adminToken, stopping }: { readonly adminToken: Planner['adminToken']; readonly stopping: AbortSignal },
): Planner {
  return {
    adminToken,
    async plan(tree, gone): Promise<PlanAnswer> {
      const late = AbortSignal.timeout(LONGEST_MS)
      const signal = AbortSignal.any([gone, stopping, late])
      try {
        return await planned(tree, signal)
      } catch (error) {
        if (!signal.aborted) throw error
        return { is: 'none', why: late.aborted ? 'the plan took too long' : 'the plan was stopped' }
      }
    },
  }

  async function planned(tree: FileTree, signal: AbortSignal): Promise<PlanAnswer> {
    await using stack = new AsyncDisposableStack()
    const records = await context.ledger.list()
    const known = new Map(records.map(({ key, file }) => [key, file]))
    const catalog = await catalogOfTree(tree, {
      known,
      created: createdOf(records),
      ownSecrets: ownSecretsOf(settings),
      signal,
    })
    const result = await makePlan({
      context: await openDryWorld({ ...context, platform: platform.beside() }, catalog, stack),
      manifests: settings.manifests,
      concurrency: settings.concurrency,
      urgency: 'last',
      stopping: signal,
      onProgress: () => undefined,
    })
    switch (result.is) {
      case 'whole':
        return { is: 'plan', plan: result.plan }
      case 'stopped':
        throw signal.reason
      case 'broken':
        throw result.bugs.values().next().value
    }
  }
}
