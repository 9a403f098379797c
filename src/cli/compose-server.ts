import type { ReconcileContext } from '../reconcile/context.ts'
import { hostname } from 'node:os'
import type { Settings } from '../config/settings.ts'
import type { Allowance } from '../contract/person-command.ts'
import type { Leader, Leadership } from '../contract/leadership.ts'
import { desiredBody } from '../contract/view.ts'
import type { Daemon } from '../daemon/daemon.ts'
import type { Leading } from '../daemon/leader-state.ts'
import { withoutManifestTold } from '../reconcile/gather/pipes-without-manifest.ts'
import { readTextFile } from '../platform/text-file.ts'
import { allowBlocked } from '../reconcile/operator/allow.ts'
import { overdueChecks } from '../reconcile/overdue.ts'
import { pipesWithoutLock } from '../reconcile/state/recorded.ts'
import { seedStatus } from '../reconcile/state/status-board.ts'
import type { CreateLimit, ManifestFacts, ServerParts, ShownRequest } from '../server/parts.ts'
import { type Server, startServer } from '../server/server.ts'
import { folderOf, stepContext } from './command-context.ts'
import type { DaemonRun, Engine } from './compose.ts'
import { CommandError, VERSION } from './io.ts'
import { createPlanner } from './planner.ts'
import { isOfOneHost, ownerTokenOf } from './server-client.ts'
import { parseKey, type Key } from '../kinds/key.ts'
import { bodyOf, kindFor } from '../kinds/profile.ts'
import type { Kind, Operation } from '../kinds/definition.ts'
import { type ResourceManifest, serviceOf } from '../kinds/manifest.ts'
import { maskManifest, maskSensitive } from '../kinds/mask.ts'
import { serviceKey } from '../kinds/service/kind.ts'
import type { JsonObject } from '../lib/json.ts'
import { pathOf } from '../platform/wire.ts'
import { withCommands } from '../plan/step.ts'

/** @throws {CommandError} if a port is unusable */
export async function startPage(
  { settings, stop: { stopping }, engine, daemon, leading, leadership }: DaemonRun,
  { startedAt, ...own }: Pick<ServerParts, 'metrics' | 'recentEvents'> & { readonly startedAt: number },
): Promise<Server> {
  const { board, context, reconciler } = engine
  const { profile, adminTokenFile } = settings
  const commands = stepContext(settings)
  const completed = (text: string | undefined) => text && withCommands(text, commands)
  try {
    return await startServer({
      profile,
      listen: settings.listen,
      metricsListen: settings.metricsListen,
      hosts: { allowed: settings.allowedHosts ?? [], publicUrl: settings.publicUrl },
      emit: context.emit,
      clock: context.clock,
      board,
      problem: (key) => reconciler.problems.of(key),
      desired: (key) => desiredBody(profile, context.store.entry(key)?.manifest),
      manifest: (key) => manifestFacts(context, key),
      history: (query) => context.ledger.history(query),
      ...own,
      health: () => daemon.health(),
      ready: () => daemon.ready(),
      commands,
      overview: () => ({
        ...overviewOf(settings, engine, daemon, startedAt),
        ...standingOf(leading, leadership),
        sourceProblem: completed(daemon.sourceProblem),
        ledgerRollback: completed(context.ledger.rollback),
      }),
      operator: {
        // Reads the file for each request, because the token can change.
        adminToken:
          adminTokenFile === undefined ? undefined : () => readTextFile(adminTokenFile, { signal: stopping }),
        ownerToken: ownerTokenOf(context.ledger),
        request: (key, accept) => daemon.request(key, accept),
        progress: (token) => daemon.progress(token),
        allow: (allowance) => allow(engine, daemon, allowance),
        operate: (command) => daemon.operate(command),
        plan: createPlanner(engine, settings, stopping),
      },
    })
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error))
  }
}

async function allow({ context, board }: Engine, daemon: Daemon, allowance: Allowance) {
  const answer = await allowBlocked(context, allowance)
  if (!('allowed' in answer) || allowance.dryRun) return answer
  for (const key of answer.allowed) {
    seedStatus(context, board, key)
    daemon.request(key, 'normal')
  }
  return answer
}

function overviewOf(settings: Settings, engine: Engine, daemon: Daemon, startedAt: number) {
  const { clock } = engine.context
  return {
    version: VERSION,
    sandbox: settings.sandbox,
    profile: { name: settings.profile.name },
    config: settings.config,
    revision: daemon.catalog?.revision,
    manifestsDir: folderOf(settings.manifests),
    repositoryUrl: settings.repositoryUrl,
    adminTokenFile: settings.adminTokenFile,
    revisionSince: daemon.revisionSince,
    sourceReason: daemon.catalog?.problem?.reason,
    findings: daemon.catalog?.findings ?? [],
    overdue: overdueChecks(engine.context),
    withoutLock: pipesWithoutLock(engine.context.store),
    withoutManifest: withoutManifestTold(engine.context),
    queueDepth: daemon.queueDepth(),
    createLimit: createLimitShown(engine),
    watchMode: daemon.watchMode(),
    startedAt,
    now: clock.now(),
    lastLoadAt: daemon.lastLoadAt,
    budgets: engine.platform.budgets().map((budget) => ({
      ...budget,
      limit: settings.apiBudget.requests,
      windowMs: settings.apiBudget.windowMs,
    })),
    pauses: engine.platform.pauses(),
  } as const
}

export function standingOf(leading: Pick<Leading, 'term' | 'failing' | 'olderThan'>, leadership: Leadership) {
  const { olderThan, failing: unconfirmed } = leading
  if (leading.term !== undefined) return { standsBy: false, leader: undefined, unconfirmed, olderThan }
  // A standby makes no checks, so none is overdue.
  return { standsBy: true, leader: shownLeader(leadership.leader()), unconfirmed, olderThan, overdue: 0 }
}

/** Omits the URL of a leader on another host if the URL works only there. */
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

/** Maximum of keys in a reply, because thousands of keys can depend on a Service. */
const KEYS_NAMED = 50

function manifestFacts(context: ReconcileContext, key: Key): ManifestFacts | undefined {
  const { store } = context
  const manifest = store.entry(key)?.manifest
  if (manifest === undefined) return undefined
  const { apiVersion, kind, metadata, policy, spec } = manifest
  const document = { apiVersion, kind, metadata, ...(policy && { policy }), spec } as unknown as JsonObject // parsed from YAML
  const neededBy = store.dependents(key)
  return {
    document: maskManifest(document),
    request: requestOf(context, manifest, key),
    needs: needsOf(manifest),
    neededBy: neededBy.slice(0, KEYS_NAMED),
    neededByCount: neededBy.length,
  }
}

function needsOf(manifest: ResourceManifest): readonly Key[] {
  const service = serviceOf(manifest)
  const named = (manifest.policy?.dependsOn ?? []).flatMap((text) => parseKey(text) ?? [])
  return service === undefined ? named : [serviceKey(service), ...named]
}

function requestOf(
  { profile, store }: ReconcileContext,
  manifest: ResourceManifest,
  key: Key,
): ShownRequest | undefined {
  const operation = writingOf(kindFor(profile, { key, manifest, record: undefined }))
  const body = bodyOf(profile, manifest)
  const service = store.service(serviceOf(manifest) ?? '')
  if (operation === undefined || body === undefined || service === undefined) return undefined
  const { organizationId, serviceId } = service.spec
  return {
    operation: operation.name,
    method: 'POST',
    path: pathOf(operation.path, { organizationId, serviceId }),
    body: maskSensitive(body),
  }
}

function writingOf(kind: Kind): Operation | undefined {
  switch (kind.lifecycle) {
    case 'create-once':
      return kind.operations.create
    case 'upsert':
      return kind.operations.upsert
    case 'read-only':
    case 'reference':
      return undefined
  }
}
