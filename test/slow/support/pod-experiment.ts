import { reachedLine } from '../../support/failpoints.ts'
import { startCountingPlatform } from '../../kubernetes/counting-platform.ts'
import { epochOf, startPod, writeCommon, type Pod } from '../../kubernetes/pods.ts'
import { pipeManifest } from '../../support/manifests.ts'
import { resourcesOf, urlOf, type Program, type Shown } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { createWorkspace } from '../../support/workspace.ts'
import { endOf } from './end-of.ts'
import type { Place, PodCell } from './pod-cells.ts'
import { untilStill } from './still.ts'
import { clocksOf, HAPPENS, type ApiOfCells } from './pod-troubles.ts'

/** Created before the trouble, in it, and after it. */
const NAMES = ['before', 'victim', 'after'] as const

type Name = (typeof NAMES)[number]

/** What is there of one key in the end. */
export interface Count {
  /** How many creates arrived. */
  readonly posts: number
  readonly pipes: readonly string[]
  /** By who acts. */
  readonly shown: Shown | undefined
  /** By the other one. */
  readonly shownThere: Shown | undefined
}

export interface PodFacts {
  readonly counts: Readonly<Record<Name, Count>>
  /** How each process ended before it was told to, in order. */
  readonly ended: readonly string[]
  /** How often somebody took over. */
  readonly epoch: number
  /** Whether the log of any process says that the outcome of the victim is unknown. */
  readonly isLogged: boolean
  /** `pipewright_create_outcome_unknown` of who acts. */
  readonly metric: string | undefined
  /** Creates during a further look at everything. */
  readonly postsOnceQuiet: number
  /** How both ended when they were told to. */
  readonly stopped: readonly (number | string)[]
  /** All that was written, for whoever has to find out why. */
  readonly log: string
}

/** Runs one cell, until all is quiet, and counts. */
export async function podExperiment(cell: PodCell, api: ApiOfCells, ledger: string): Promise<PodFacts> {
  await using stack = new AsyncDisposableStack()
  const world = await startWorld(cell, api, ledger, stack)
  const { write, posts, platform, pods, ended } = world
  try {
    await world.standsStill()
    await HAPPENS[cell.trouble]({ api, one: pods[0], two: pods[1], leaseMs: leaseOf(cell) })
    await until('one to act, and one to stand by', () => world.roles())
    // Both read it while they run: a process whose checkout is another one from the start on waits.
    write('after')
    const [leader, other] = await until('all to be over', async () => {
      const roles = await world.roles()
      const all = roles && (await shownBy(roles[0]))
      return all !== undefined && NAMES.every((name) => isOver(all[name])) && roles
    })
    const postsThen = posts.length
    const shown = await shownAgain(leader)
    const shownThere = await shownAlikeBy(other, shown)
    const metrics = await (await fetch(`${await urlOf(leader.program)}/metrics`)).text()
    const postsOnceQuiet = posts.length - postsThen
    await world.revive()
    for (const { program } of pods) program.signal('SIGTERM')
    const stopped = await Promise.all(pods.map(({ program }) => endOf(program)))
    const countOf = (name: Name): Count => ({
      posts: posts.filter((one) => one === name).length,
      pipes: platform.pipes.get(name) ?? [],
      shown: shown[name],
      shownThere: shownThere[name],
    })
    return {
      counts: { before: countOf('before'), victim: countOf('victim'), after: countOf('after') },
      ended,
      epoch: epochOf(leader) ?? 0,
      isLogged: world.programs().some(isTold),
      metric: /^pipewright_create_outcome_unknown (.*)$/m.exec(metrics)?.[1],
      postsOnceQuiet,
      stopped,
      log: world.output(),
    }
  } catch (error) {
    throw new Error(`ended: ${ended.join(', ')}\n${world.output()}`, { cause: error })
  }
}

/** Whether a create of which this becomes comes past the failpoint without a stop there. */
export async function isPassed(place: Place, api: ApiOfCells): Promise<boolean> {
  await using stack = new AsyncDisposableStack()
  const { pods, write } = await startWorld({ ...place, trouble: 'kill -9' }, api, 'pods', stack)
  const [one] = pods
  write('victim')
  await until('the create to be over', () =>
    one.program.log().some(({ msg, key }) => msg === 'Create finished' && key === 'Pipe/victim'),
  )
  return !one.program.stderr().includes(reachedLine({ at: place.at, action: 'pause' }))
}

/** Of both processes: ms. A longer one where it matters what happens before it is over. */
function leaseOf({ trouble }: PodCell): number {
  return trouble === 'frozen, the clocks of the other twice as fast' ? 4_000 : 2_000
}

/** Two processes of which the first one acts, and has created a pipe. */
async function startWorld(cell: PodCell, api: ApiOfCells, ledger: string, stack: AsyncDisposableStack) {
  const workspace = stack.use(createWorkspace())
  const posts: string[] = []
  const platform = stack.use(
    await startCountingPlatform((name) => {
      posts.push(name)
      return name === 'victim' ? cell.reply : 'answered'
    }),
  )
  writeCommon(workspace)
  const write = (name: Name) => workspace.write(`manifests/${name}.yaml`, pipeManifest(name))
  const settings = { ledger: `kubernetes:${ledger}` }
  const shared = { workspace, api, platform: platform.url, leaseMs: leaseOf(cell), settings }
  const start = async (who: 'one' | 'two', env: Readonly<Record<string, string>>) => {
    const clocks = clocksOf(cell.trouble, who, workspace)
    const pod = await startPod(who, { ...shared, env: clocks }, stack, env)
    await hasBegun(pod, env)
    return pod
  }

  write('before')
  // What is created before comes past it once.
  const one = await start('one', { PIPEWRIGHT_FAILPOINT: `${cell.at}=pause@2` })
  await until('the first pipe', async () => (await shownBy(one)).before?.status === 'Ready')
  const pods = [one, await start('two', {})] as const
  const past: Program[] = []
  const ended: string[] = []

  /** Whatever ended is started again, as Kubernetes does it. */
  async function revive(): Promise<void> {
    for (const pod of pods) {
      const code = await codeOf(pod)
      if (code === undefined) continue
      ended.push(`${pod.name}: ${code}`)
      past.push(pod.program)
      await pod.again()
    }
  }

  const programs = () => [...past, ...pods.map(({ program }) => program)]
  return {
    posts,
    platform,
    write,
    pods,
    /** How processes ended so far. */
    ended,
    revive,
    programs,
    output: () => programs().map(outputOf).join('\n'),
    async standsStill() {
      write('victim')
      const line = reachedLine({ at: cell.at, action: 'pause' })
      await until('the failpoint', () => one.program.stderr().includes(line))
      await untilStill(one.program.pid)
    },
    /** @returns who acts, and who stands by; undefined: not yet */
    async roles(): Promise<readonly [Pod, Pod] | undefined> {
      await revive()
      const leading = pods.find((pod) => standingOf(pod) === 'acting')
      const waiting = pods.find((pod) => standingOf(pod) === 'standing by')
      return leading && waiting && [leading, waiting]
    },
  }
}

/** Waits until it acts or stands by. On a busy machine the API may not answer in time: then it ends, and is started again. */
async function hasBegun(pod: Pod, env: Readonly<Record<string, string>>): Promise<void> {
  await until(`${pod.name} to begin`, async () => {
    if ((await codeOf(pod)) !== undefined) await pod.again(env)
    return standingOf(pod)
  })
}

/** How it ended; undefined: it runs. */
function codeOf({ program }: Pod): Promise<number | string | undefined> {
  return Promise.race([program.ended, Promise.resolve(undefined)])
}

type ShownByName = Readonly<Partial<Record<Name, Shown>>>

async function shownBy({ program }: Pod): Promise<ShownByName> {
  const all = await resourcesOf(await urlOf(program))
  return Object.fromEntries(NAMES.map((name) => [name, all.find(({ key }) => key === `Pipe/${name}`)]))
}

/** After another look at everything. */
async function shownAgain(pod: Pod): Promise<ShownByName> {
  const before = await shownBy(pod)
  pod.program.signal('SIGHUP')
  return until('another look at all', async () => {
    const now = await shownBy(pod)
    return NAMES.every((name) => lookOf(now[name]) > lookOf(before[name])) && now
  })
}

/** Once it shows the same as the other one; or as it is after a while. */
async function shownAlikeBy(pod: Pod, there: ShownByName): Promise<ShownByName> {
  let shown: ShownByName = {}
  await until('it to show the same', async () => {
    shown = await shownBy(pod)
    return NAMES.every((name) => shown[name]?.status === there[name]?.status)
  }).catch(() => undefined) // what it shows instead is told
  return shown
}

/** Whether its log tells of the unknown outcome. */
function isTold(program: Program): boolean {
  return program
    .log()
    .some(
      ({ key, reason, outcome }) =>
        key === 'Pipe/victim' && (reason === 'OutcomeUnknown' || outcome === 'unknown'),
    )
}

function outputOf(program: Program): string {
  return `--- stdout\n${program.stdout()}\n--- stderr\n${program.stderr()}`
}

/** The last that it said of whether it acts. */
function standingOf({ program }: Pod): unknown {
  return program.log().findLast(({ msg }) => msg === 'Leadership changed')?.['is']
}

function isOver(shown: Shown | undefined): boolean {
  return shown?.status === 'Ready' || shown?.status === 'OutcomeUnknown'
}

function lookOf(shown: Shown | undefined): number {
  return shown?.lastReconciledAt ?? 0
}
