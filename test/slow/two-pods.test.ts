import { expect, test } from 'vitest'
import { startApiModel } from '../kubernetes/api-model.ts'
import { startCountingPlatform } from '../kubernetes/counting-platform.ts'
import type { CreateFate } from '../support/front.ts'
import { epochOf, passes, startPod, writeCommon, type Pod } from '../kubernetes/pods.ts'
import { pipeManifest } from '../support/manifests.ts'
import { judgeSeen } from '../support/oracle.ts'
import { resourcesOf, urlOf, type Shown } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'
import { createRandom } from '../torture/random.ts'

/*
 * Two processes with one ledger in a cluster, of which one acts: killed, frozen for longer than the Lease, cut off from the API or from the
 * platform, while replies of creates are lost. SEED=… repeats the same choices; TAKEOVERS=200 is the long run.
 */

const SEED = process.env['SEED'] ?? String(Math.floor(Math.random() * 1_000_000))
const TAKEOVERS = Number(process.env['TAKEOVERS'] ?? 10)
const LEASE_MS = 1_000
/** Up to the end, so that each takeover meets some that are on their way. */
const KEYS_EACH_SECOND = 3

test(`no pipe twice and none lost over ${TAKEOVERS} takeovers (SEED=${SEED})`, async () => {
  const random = createRandom(SEED)
  const fates = random.stream('fates')
  await using stack = new AsyncDisposableStack()
  const workspace = stack.use(createWorkspace())
  const api = stack.use(await startApiModel())
  const platform = stack.use(
    await startCountingPlatform(() =>
      fates.weighted<CreateFate>([
        [70, 'answered'],
        [10, 'lost'],
        [5, 'cut'],
        [15, { lateMs: fates.between(0, 3 * LEASE_MS) }],
      ]),
    ),
  )
  writeCommon(workspace)
  const settings = { concurrency: '32' }
  const options = { workspace, api, platform: platform.url, leaseMs: LEASE_MS, settings }
  const pods = [await startPod('one', options, stack), await startPod('two', options, stack)]
  const story: string[] = []
  let made = 0
  const names: string[] = []
  const writeMore = () => {
    for (let at = 0; at < KEYS_EACH_SECOND; at += 1) {
      made += 1
      const name = `p${String(made).padStart(5, '0')}`
      names.push(name)
      workspace.write(`manifests/${name}.yaml`, pipeManifest(name))
    }
  }
  const writing = setInterval(writeMore, 1_000)
  stack.defer(() => clearInterval(writing))

  const lastEpoch = () => Math.max(0, ...pods.map((pod) => epochOf(pod) ?? 0))
  const leaderOf = async () => {
    await until('somebody acts', () => lastEpoch() > 0)
    const pod = pods.find((each) => epochOf(each) === lastEpoch())
    if (pod === undefined) throw new Error('nobody acts')
    return pod
  }

  /** Keeps the pods alive: one that was taken over ends by itself. */
  async function revive(): Promise<void> {
    for (const pod of pods) {
      const ended = await Promise.race([pod.program.ended, Promise.resolve(undefined)])
      if (ended !== undefined) {
        story.push(`${pod.name} ended with ${ended}`)
        await pod.again()
      }
    }
  }

  const TROUBLES = {
    async kill(pod: Pod) {
      pod.program.signal('SIGKILL')
      await pod.again()
    },
    async freeze(pod: Pod) {
      pod.program.signal('SIGSTOP')
      await passes(3 * LEASE_MS)
      pod.program.signal('SIGCONT')
    },
    async 'end in good order'(pod: Pod) {
      pod.program.signal('SIGTERM')
      await pod.again()
    },
    async 'cut from the API'(pod: Pod) {
      pod.toApi.set(random.chance(0.5) ? 'cut' : 'silent')
      await passes(3 * LEASE_MS)
      pod.toApi.set('open')
    },
    async 'cut from the platform'(pod: Pod) {
      pod.toPlatform.set(random.chance(0.5) ? 'cut' : 'silent')
      await passes(2 * LEASE_MS)
      pod.toPlatform.set('open')
    },
    async 'kill both'() {
      for (const pod of pods) pod.program.signal('SIGKILL')
      for (const pod of pods) await pod.again()
    },
    async 'no API for a while'() {
      for (const pod of pods) pod.toApi.set('cut')
      await passes(3 * LEASE_MS)
      for (const pod of pods) pod.toApi.set('open')
    },
  }

  while (lastEpochSoFar() < TAKEOVERS) {
    await revive()
    const leader = await leaderOf()
    await passes(random.between(0, 2 * LEASE_MS))
    const trouble = random.pick(Object.keys(TROUBLES) as (keyof typeof TROUBLES)[])
    story.push(`epoch ${lastEpoch()}: ${trouble} ${leader.name}`)
    await TROUBLES[trouble](leader)
    await passes(LEASE_MS)
  }

  function lastEpochSoFar(): number {
    const lease = [...api.objects()].find(([path]) => path.includes('/leases/'))?.[1]
    return (lease?.['spec'] as { leaseTransitions?: number } | undefined)?.leaseTransitions ?? 0
  }

  clearInterval(writing)
  // A machine that is too busy to renew so short a Lease in time would let nobody finish.
  options.leaseMs = 10 * LEASE_MS
  for (const pod of pods) pod.program.signal('SIGTERM')
  for (const pod of pods) await pod.again()
  /** By who acts: on a busy machine that may still change. */
  const pipesShown = async () => {
    await revive()
    const all = await resourcesOf(await urlOf((await leaderOf()).program))
    return all.filter(({ key }) => key.startsWith('Pipe/'))
  }
  let writtenAt = -Infinity
  const shown = await until(
    'everything to be settled',
    async () => {
      const all = await pipesShown()
      // It has not read the revision that was acted on: it continues with the next one, or after five minutes.
      const isHeld = all.length === made && all.some(({ reason }) => reason === 'NotLeading')
      if (isHeld && performance.now() - writtenAt > 5 * LEASE_MS) {
        writtenAt = performance.now()
        writeMore()
      }
      return all.length === made && all.every(isOver) && all
    },
    180_000 + made * 50,
  ).catch(async (error: unknown) => {
    const all = await pipesShown()
    const keys = new Set(all.map(({ key }) => key))
    const absent = names.filter((name) => !keys.has(`Pipe/${name}`))
    const open = all.filter((one) => !isOver(one))
    const by = Map.groupBy(open, ({ status, reason }) => `${status}, ${reason}`)
    const lines = [
      `${made} made, ${all.length} shown, epoch ${lastEpoch()}, not shown: ${absent.slice(0, 5).join(' ')}`,
      ...[...by].map(([why, those]) => `${those.length} ${why}: ${those[0]?.key} ${those[0]?.message}`),
      ...pods.map(({ name, program }) => `${name}: ${JSON.stringify(program.log().at(-1))}`),
      story.join('; '),
    ]
    throw new Error(lines.join('\n'), { cause: error })
  })

  const broken = shown.flatMap(({ key, status, pipeId }) => {
    const name = key.slice('Pipe/'.length)
    const isUnknown = status === 'OutcomeUnknown'
    return judgeSeen({
      name,
      pipes: platform.pipes.get(name) ?? [],
      known: [pipeId],
      recorded: pipeId,
      isUnknown,
    })
  })
  const unknown = shown.filter(({ status }) => status === 'OutcomeUnknown').length
  const summary = `${made} keys, ${platform.creates()} creates, ${unknown} unknown, epoch ${lastEpoch()}`
  process.stderr.write(`two pods: SEED=${SEED}: ${summary}\n`)
  expect(broken, story.join('; ')).toEqual([])
})

function isOver({ status }: Shown): boolean {
  return status === 'Ready' || status === 'OutcomeUnknown'
}
