import { setTimeout as pause } from 'node:timers/promises'
import { keyOfLineage, type Lineage } from './lineage.ts'
import { judgeKept } from './judge.ts'
import type { Parts } from './storm.ts'
import { isAsWished, wordsOfEnd } from './cloud/end.ts'
import { ROTATED_SECRETS, SERVICES } from './world.ts'
import { scanApi, type ShownResource, shownResources } from './watch.ts'

/** Longest time until all is well, once nothing goes wrong any more: a wait of several refused creates included. */
const SETTLE_MS = 360_000
const LOOK_MS = 1_000

export interface Finale {
  /** From the end of the faults until the last resource was settled, in ms; undefined: never. */
  readonly slowestSettleMs: number | undefined
  readonly slowest: string | undefined
}

/** The faults stop and every manifest is back: all must be settled, and then nothing more may happen. */
export async function finale(parts: Parts): Promise<Finale> {
  const { edits, model, mounts, tree, exclusive, platform, killer, journal, ledger, person } = parts
  parts.outages.end()
  platform.sandbox.faults.clear()
  journal.note(undefined, 'the faults stop')
  await mounts.mountAll()
  edits.mend()
  await exclusive(() => tree.apply(model.takeChanges()))
  const startedAt = Date.now()
  killer.start()

  const settledAt = new Map<string, number>()
  let open: readonly string[] = []
  for (;;) {
    await pause(LOOK_MS, undefined, { signal: parts.signal })
    ledger.drain()
    const records = await ledger.records()
    if (records !== undefined) await person.round(records, killer.run, 'tidy')
    await exclusive(() => tree.apply(model.takeChanges()))
    const shown = await shownResources(killer.run)
    if (shown !== undefined) {
      open = unsettled(parts, shown)
      for (const { key } of shown) if (!settledAt.has(key)) settledAt.set(key, Date.now())
      for (const key of open) settledAt.delete(key)
    }
    if (shown !== undefined && open.length === 0) break
    if (Date.now() - startedAt < SETTLE_MS) continue
    for (const key of open) blame(parts, key, shown)
    break
  }
  const [slowest, at] = [...settledAt].toSorted((a, b) => b[1] - a[1])[0] ?? []
  await scanEverything(parts)
  await killer.stop()
  const records = (await ledger.records()) ?? []
  judgeKept(records, parts)
  await quietPass(parts)
  return open.length > 0
    ? { slowestSettleMs: undefined, slowest: undefined }
    : { slowestSettleMs: at === undefined ? 0 : at - startedAt, slowest }
}

/** Keys that are not yet what they should be. */
function unsettled(
  { model, platform, mounts, ledger }: Parts,
  shown: readonly ShownResource[],
): readonly string[] {
  const byKey = new Map(shown.map((resource) => [resource.key, resource]))
  const alive = platform.alive()
  const wanted = new Set(model.lineages.map(keyOfLineage))
  const pipes = model.lineages.filter((lineage) => {
    const resource = byKey.get(keyOfLineage(lineage))
    const [pipe] = alive.get(lineage.platformName) ?? []
    return (
      resource === undefined ||
      pipe === undefined ||
      resource.pipeId !== pipe.id ||
      !(lineage.wish === undefined
        ? isRight(lineage, resource)
        : isAsWished({
            lineage,
            wish: lineage.wish,
            resource,
            pipe,
            platform,
            mounts,
            history: ledger.history,
          }))
    )
  })
  // A service without a pipe may not have been asked since the start.
  const inUse = new Set(model.lineages.map(({ service }) => `Service/${service}`))
  const others = shown.filter(
    ({ key, status, reason }) =>
      !key.startsWith('Pipe/') && status !== 'Ready' && (reason !== 'Unobserved' || inUse.has(key)),
  )
  const leftovers = shown.filter(({ key }) => key.startsWith('Pipe/') && !wanted.has(key))
  return [
    ...pipes.map(keyOfLineage),
    ...others.map(({ key }) => key),
    ...leftovers.map(({ key }) => key),
    ...wrongEndpoints({ model, platform }),
  ]
}

/** What was edited since its creation cannot be updated, and what has a new password neither; all else is well. */
function isRight(lineage: Lineage, { status, reason }: ShownResource): boolean {
  if (status === 'Ready') return true
  if (status !== 'Drifted') return false
  return (
    (reason === 'NotUpdatable' && lineage.edited) ||
    (reason === 'SecretRotated' && ROTATED_SECRETS.includes(lineage.secret))
  )
}

function wrongEndpoints({ model, platform }: Pick<Parts, 'model' | 'platform'>): readonly string[] {
  const there = platform.sandbox.endpoints().map(({ body }) => body['allowedOrigins'])
  return SERVICES.filter((service) => !there.includes(model.origins.get(service))).map(
    (service) => `QueryEndpoint/${service}`,
  )
}

function blame(
  { model, journal, platform }: Parts,
  key: string,
  shown: readonly ShownResource[] | undefined,
): void {
  const resource = shown?.find((candidate) => candidate.key === key)
  const lineage = model.lineages.find((candidate) => keyOfLineage(candidate) === key)
  const pipes = platform.alive().get(lineage?.platformName ?? '') ?? []
  const there = pipes.map((pipe) =>
    lineage?.wish === undefined
      ? pipe.id
      : `${pipe.id}: ${wordsOfEnd({ lineage, wish: lineage.wish, pipe })}`,
  )
  const says =
    resource === undefined
      ? 'is not shown'
      : `is ${resource.status} (${resource.reason}, pipe ${resource.pipeId}): ${resource.message}`
  journal.violate(
    'unsettled',
    `${key} ${says}; on the platform: ${there.join(', ') || 'nothing'}`,
    lineage?.platformName,
  )
}

async function scanEverything({ runner, killer, leaks, ledger, model }: Parts): Promise<void> {
  for (const { name } of model.lineages.slice(0, 50)) await scanApi(killer.run, leaks, `Pipe/${name}`)
  const commands = [
    ['status'],
    ['status', '-o', 'json'],
    ['history', '--limit', '5000'],
    ['history', '-o', 'json', '--limit', '5000'],
    ['plan'],
    ['plan', '-o', 'json'],
    ['plan', '-o', 'markdown'],
    ['validate', '-o', 'sarif'],
  ]
  for (const command of commands) await runner.command(command)
  ledger.scan(leaks)
}

/** Only what hangs takes so long: ms. */
const QUIET_MS = 360_000

/** A further pass looks at every pipe, and writes nothing to the platform. */
async function quietPass({ killer, platform, journal, model, scene }: Parts): Promise<void> {
  platform.drain()
  const before = { posts: platform.posts.length, requests: platform.requests }
  killer.start()
  const changes = platform.log.length
  const end = Date.now() + QUIET_MS
  // One list is for all pipes of a service.
  const least = scene.changes ? SERVICES.length : model.lineages.length
  while (Date.now() < end && platform.requests < before.requests + least) {
    await pause(100)
    platform.drain()
  }
  await killer.stop()
  platform.drain()
  const writes = platform.log.slice(changes).filter(({ method }) => method === 'PATCH' || method === 'PUT')
  for (const { operation, path, body } of scene.changes ? writes : [])
    journal.violate(
      'wrong-change',
      `${operation} ${path} in a pass over a settled world: ${JSON.stringify(body)}`,
    )
  const posts = platform.posts.slice(before.posts)
  if (posts.length > 0) {
    journal.violate(
      'unapproved-post',
      `${posts.length} creates in a pass over a settled world`,
      posts[0]?.platformName,
    )
  }
  if (platform.requests < before.requests + least) {
    journal.violate(
      'process',
      `a pass over ${model.lineages.length} pipes sent ${platform.requests - before.requests} requests within ${QUIET_MS} ms`,
    )
  }
}
