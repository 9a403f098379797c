import { mkdirSync, renameSync } from 'node:fs'
import { startApiModel, type ApiModel } from '../../kubernetes/api-model.ts'
import { startCountingPlatform } from '../../kubernetes/counting-platform.ts'
import { acts, startPod, writeCommon, type Pod } from '../../kubernetes/pods.ts'
import { pipeManifest } from '../../support/manifests.ts'
import { resourcesOf, urlOf } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { createWorkspace, type Workspace } from '../../support/workspace.ts'

const IN_A_FOLDER = 100

/** Two processes with so many pipes, all of them created. */
export interface LoadedPods {
  readonly workspace: Workspace
  readonly api: ApiModel
  /** The first one acts, the other stands by. */
  readonly pods: readonly [Pod, Pod]
  /** Name → when its first create arrived: ms since the epoch. */
  readonly arrivals: ReadonlyMap<string, number>
  readonly creates: () => number
  readonly writesPerCreation: number
}

/**
 * @param interval of checks of what is in sync, as the flag takes it
 * @param leaseMs the `--lease-duration`; unless given, that which comes by itself
 */
export async function startLoaded(
  stack: AsyncDisposableStack,
  {
    records,
    interval,
    leaseMs = 15_000,
  }: { readonly records: number; readonly interval: string; readonly leaseMs?: number },
): Promise<LoadedPods> {
  const workspace = stack.use(createWorkspace())
  const api = stack.use(await startApiModel())
  const arrivals = new Map<string, number>()
  const platform = stack.use(
    await startCountingPlatform((name) => {
      if (!arrivals.has(name)) arrivals.set(name, Date.now())
      return 'answered'
    }),
  )
  writeCommon(workspace)
  // A reply that a busy machine brings late must not become an unknown outcome.
  const patience = { 'request-timeout': '60s', 'shutdown-grace': '65s' }
  const settings = { interval, concurrency: '32', 'api-budget': '5000/1s', ...patience }
  const env = { MALLOC_ARENA_MAX: '1' } // as the image sets it
  const options = { workspace, api, platform: platform.url, leaseMs, settings, env }
  const one = await startPod('one', options, stack)
  await acts(one)
  const shown = async () => resourcesOf(await urlOf(one.program))
  await until('the Service', async () => (await shown()).length === 1)
  mkdirSync(workspace.path('prepared'))
  for (let at = 0; at < records; at += 1)
    workspace.write(`prepared/${Math.floor(at / IN_A_FOLDER)}/p${at}.yaml`, pipeManifest(`p${at}`))
  const before = api.writes.length
  renameSync(workspace.path('prepared'), workspace.path('manifests/all'))
  await until('all to be created', () => platform.creates() === records, 60_000 + records * 60)
  await until('all to be in sync', async () => {
    const all = await shown()
    return all.length === records + 1 && all.every(({ status }) => status === 'Ready')
  })
  const writesPerCreation = (api.writes.length - before) / records
  const two = await startPod('two', options, stack)
  await until('the other to stand by', () => two.program.stdout().includes('standing by'))
  return { workspace, api, pods: [one, two], arrivals, creates: platform.creates, writesPerCreation }
}
