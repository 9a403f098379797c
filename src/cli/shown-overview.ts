import { hostname } from 'node:os'
import type { Settings } from '../config/settings.ts'
import type { Leader, Leadership } from '../contract/leadership.ts'
import type { Daemon } from '../daemon/daemon.ts'
import type { Leading } from '../daemon/leading.ts'
import { withoutManifestTold } from '../reconcile/gather/pipes-without-manifest.ts'
import { overdueChecks } from '../reconcile/overdue.ts'
import { pipesWithoutLock } from '../reconcile/state/pipes-without-lock.ts'
import type { CreateLimit } from '../server/parts.ts'
import { commandContext, folderOf } from './command-context.ts'
import type { Engine } from './compose.ts'
import { VERSION } from './io.ts'
import { isOfOneHost } from './running-server.ts'

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
    createLimit: createLimitShown(engine),
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

export function standingOf(leading: Pick<Leading, 'term' | 'failing' | 'olderThan'>, leadership: Leadership) {
  const { olderThan, failing } = leading
  const unconfirmed = failing?.why
  if (leading.term !== undefined) return { standsBy: false, leader: undefined, unconfirmed, olderThan }
  // A standby makes no checks.
  return { standsBy: true, leader: shownLeader(leadership.leader()), unconfirmed, olderThan, overdue: 0 }
}

/** The leader's host (in a cluster its pod). Its addresses might only work there. */
function shownLeader(leader: Leader | undefined) {
  if (leader === undefined) return undefined
  const holder = leader.holder.replace(/_[0-9a-f-]{36}$/, '')
  const isFromHere = leader.url === undefined || holder === hostname() || !isOfOneHost(new URL(leader.url))
  return { holder, url: isFromHere ? leader.url : undefined }
}

function createLimitShown({ board, context }: Engine): CreateLimit {
  const blocked = board.list().filter(({ reason }) => reason === 'CreateLimit')
  const byService = Map.groupBy(blocked, ({ service = '' }) => service)
  return {
    limit: context.maxCreates,
    held: blocked.length,
    services: [...byService].map(([service, { length }]) => ({ service, held: length })),
  }
}
