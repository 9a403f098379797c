import { hostname } from 'node:os'
import type { Settings } from '../config/settings.ts'
import type { Leader, Leadership } from '../contract/leadership.ts'
import type { Daemon } from '../daemon/daemon.ts'
import type { Leading } from '../daemon/leading.ts'
import { countBlocked } from '../reconcile/operator/allow.ts'
import type { ReconcileContext } from '../reconcile/context.ts'
import { creationsOf, wantedCreations } from '../reconcile/gather/creations-of-service.ts'
import { withoutManifestTold } from '../reconcile/gather/pipes-without-manifest.ts'
import { overdueChecks } from '../reconcile/overdue.ts'
import { pipesWithoutLock } from '../reconcile/state/pipes-without-lock.ts'
import type { CreateLimit } from '../server/parts.ts'
import { commandContext, folderOf } from './command-context.ts'
import type { Engine } from './compose.ts'
import { VERSION } from './io.ts'
import { isOfOneHost } from './running-server.ts'

/** What the page says of the process as a whole. */
export function overviewOf(
  settings: Settings,
  engine: Engine,
  daemon: Daemon | undefined,
  startedAt: number,
) {
  const { clock } = engine.context
  return {
    version: VERSION,
    ...commandContext({ ...settings, server: undefined }),
    revision: daemon?.catalog?.revision,
    manifestsDir: folderOf(settings.manifests),
    repositoryUrl: settings.repositoryUrl,
    adminTokenFile: settings.adminTokenFile,
    revisionSince: daemon?.revisionSince,
    sourceProblem: daemon?.sourceProblem,
    sourceReason: daemon?.catalog?.problem?.reason,
    findings: daemon?.catalog?.findings ?? [],
    overdue: overdueChecks(engine.context),
    withoutLock: pipesWithoutLock(engine.context.store),
    withoutManifest: withoutManifestTold(engine.context),
    queueDepth: daemon?.queueDepth() ?? { 0: 0, 1: 0, 2: 0 },
    createLimit: createLimitShown(engine.context),
    watchMode: daemon?.watchMode() ?? 'none',
    startedAt,
    now: clock.now(),
    lastLoadAt: daemon?.lastLoadAt,
    budgets: engine.platform.budgets().map((budget) => ({
      ...budget,
      limit: settings.apiBudget.requests,
      windowMs: settings.apiBudget.windowMs,
    })),
    pauses: engine.platform.pauses(),
  } as const
}

/** Who acts, as the page shows it. */
export function standingOf(leading: Pick<Leading, 'term' | 'failing' | 'olderThan'>, leadership: Leadership) {
  const { olderThan, failing } = leading
  const unconfirmed = failing?.why
  if (leading.term !== undefined) return { standsBy: false, leader: undefined, unconfirmed, olderThan }
  // What is due is checked by the other one.
  return { standsBy: true, leader: shownLeader(leadership.leader()), unconfirmed, olderThan, overdue: 0 }
}

/** Its name is that of its host, which in a cluster is its pod. Some addresses lead to it on that host alone. */
function shownLeader(leader: Leader | undefined) {
  if (leader === undefined) return undefined
  const holder = leader.holder.replace(/_[0-9a-f-]{36}$/, '')
  const isFromHere = leader.url === undefined || holder === hostname() || !isOfOneHost(new URL(leader.url))
  return { holder, url: isFromHere ? leader.url : undefined }
}

/** Services in which the create limit holds something back that are shown. */
const LIMITED_SHOWN = 100

function createLimitShown(context: ReconcileContext): CreateLimit {
  const { store, maxCreates } = context
  const blocked = countBlocked(store)
  const held = blocked.values().reduce((sum, count) => sum + count, 0)
  const services = [...blocked.keys()].filter((service) => service !== undefined).toSorted()
  return {
    on: held > 0,
    wanted: wantedCreations(store),
    limit: maxCreates,
    held,
    services: services.slice(0, LIMITED_SHOWN).map((service) => {
      const { wanted, made, until } = creationsOf(context, service)
      return { service, wanted, made, until, held: blocked.get(service) ?? 0 }
    }),
  }
}
