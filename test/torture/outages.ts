import type { FaultInput } from '../../src/sandbox/fault-types.ts'
import type { FaultRuleInput } from '../../src/sandbox/faults.ts'
import type { Sandbox } from '../../src/sandbox/sandbox-server.ts'
import type { Journal } from './journal.ts'
import type { Random } from './random.ts'
import type { Scene } from './scene.ts'
import { KEYS, SERVICES, serviceIdOf, servicesOf, type ApiKey, type Service } from './world.ts'

/*
 * For a while, pipes that exist are not shown: a permission is lost, a route, or one pipe is out of sight. The bounds are those
 * of what is promised: the platform says of a pipe that was seen that it is not there for fifteen minutes at most while creates are
 * allowed, and for a minute at most where others of its service are shown meanwhile, unless creates are refused too.
 */

export type Outages = ReturnType<typeof createOutages>

interface PipeInService {
  readonly platformName: string
  readonly service: Service
}

/** Who cannot be seen, and how. */
interface Plan {
  readonly kind: string
  readonly services: readonly Service[]
  /** Of the one pipe; undefined: all of the services. */
  readonly platformName: string | undefined
  readonly ms: number
  readonly reads: FaultInput
  /** undefined: creates are allowed. */
  readonly creates: FaultInput | undefined
}

interface Outage extends Plan {
  readonly from: number
  to: number
}

/** So long after one, the same services and pipes stay in sight: what a minute and another look tells must have been told. */
const REST_MS = 90_000
/** A look from before the end must not be followed by a create from after it. */
const CREATES_LATER_MS = 25_000

const OWN_404: FaultInput = { type: 'status', status: 404 }
const REFUSALS: readonly FaultInput[] = [
  { type: 'status', status: 403 },
  { type: 'status', status: 400 },
  { type: 'rate-limit', seconds: 5, header: 'retry-after' },
]
const ROUTES: readonly FaultInput[] = [
  { type: 'html', status: 404 },
  { type: 'html', status: 502 },
  { type: 'status', status: 503 },
]

export function createOutages(parts: {
  readonly sandbox: Pick<Sandbox, 'faults'>
  readonly journal: Journal
  readonly random: Random
  readonly scene: Scene
  /** Pipes that a manifest was ever written for. */
  readonly pipes: () => readonly PipeInService[]
}) {
  const { sandbox, journal, random, scene } = parts
  const past: Outage[] = []
  const ends = new Set<() => void>()
  const counts = new Map<string, number>()

  function whole(what: string, services: readonly Service[]): Plan {
    const isRoute = random.chance(0.35)
    const common = { services, platformName: undefined, ms: random.between(40_000, 200_000) }
    const creates = random.chance(0.5) ? random.pick(REFUSALS) : undefined
    return isRoute
      ? { ...common, kind: `the route to ${what}`, reads: random.pick(ROUTES), creates }
      : { ...common, kind: `the permission for ${what}`, reads: OWN_404, creates }
  }

  function single({ platformName, service }: PipeInService): Plan {
    const common = { services: [service], platformName }
    return random.weighted([
      [
        2,
        {
          ...common,
          kind: 'one pipe',
          ms: random.between(5_000, 55_000),
          reads: OWN_404,
          creates: undefined,
        },
      ],
      [
        3,
        {
          ...common,
          kind: 'one pipe, and the right to create it',
          ms: random.between(80_000, 200_000),
          reads: OWN_404,
          creates: random.pick(REFUSALS),
        },
      ],
      [
        1,
        {
          ...common,
          kind: 'the route to one pipe',
          ms: random.between(60_000, 300_000),
          reads: random.pick(ROUTES),
          creates: undefined,
        },
      ],
    ] as const)
  }

  /** Those of the small services mostly go together: one of them at rest keeps all of their key in sight. */
  function ofLarge(): readonly PipeInService[] {
    const small = servicesOf('etas')
    return parts.pipes().filter(({ service }) => !small.includes(service))
  }

  function planned(): Plan {
    return random.weighted([
      [3, () => whole('a service', [random.pick(SERVICES)])],
      [4, () => whole('a key', servicesOf(random.weighted(KEYS.map(byNumber))))],
      [5, () => single(random.pick(random.chance(0.9) ? ofLarge() : parts.pipes()))],
    ] as const)()
  }

  /** A pipe and its whole service are never out of sight in a row: together that would be too long. */
  function isRested({ services, platformName }: Plan): boolean {
    const now = Date.now()
    return !past.some(
      (other) =>
        other.to + REST_MS > now &&
        other.services.some((service) => services.includes(service)) &&
        (platformName === undefined ||
          other.platformName === undefined ||
          other.platformName === platformName),
    )
  }

  function start(plan: Plan): void {
    const from = Date.now()
    const outage: Outage = { ...plan, from, to: from + plan.ms }
    past.push(outage)
    counts.set(plan.kind, (counts.get(plan.kind) ?? 0) + 1)
    const creates = plan.creates === undefined ? 'allowed' : `refused (${JSON.stringify(plan.creates)})`
    const whom = plan.platformName ?? plan.services.join(', ')
    journal.note(
      plan.platformName,
      `outage: ${plan.kind}, ${whom}, for ${Math.round(plan.ms / 1_000)} s: reads ${JSON.stringify(plan.reads)}, creates ${creates}`,
    )
    const subjects = plan.platformName === undefined ? plan.services.map(serviceIdOf) : [plan.platformName]
    const rule = (operation: 'getPipe' | 'listPipes' | 'createPipe', fault: FaultInput) =>
      subjects.map((subject): FaultRuleInput => ({ operation, subject, times: 'always', fault }))
    const allow = plan.creates && sandbox.faults.impose(...rule('createPipe', plan.creates))
    const show = sandbox.faults.impose(...scene.reads.flatMap((operation) => rule(operation, plan.reads)))
    const shown = () => {
      show()
      outage.to = Math.min(outage.to, Date.now())
      journal.note(plan.platformName, `outage over: ${plan.kind}, ${whom}`)
    }
    const timers = [
      setTimeout(shown, plan.ms).unref(),
      setTimeout(() => allow?.(), plan.ms + CREATES_LATER_MS).unref(),
    ]
    ends.add(() => {
      for (const timer of timers) clearTimeout(timer)
      if (outage.to > Date.now()) shown()
      setTimeout(() => allow?.(), CREATES_LATER_MS).unref()
    })
  }

  return {
    /** So many there were, by their kind. */
    counts,
    /** Begins one by chance, that ends before `endAt` (ms since the epoch), where nothing was out of sight for a while. */
    begin(endAt: number) {
      const plan = planned()
      if (Date.now() + plan.ms + CREATES_LATER_MS < endAt && isRested(plan)) start(plan)
    },
    /** Whether a pipe was out of sight at some time between two: ms since the epoch. */
    hid: ({ platformName, service }: PipeInService, from: number, to: number) =>
      past.some(
        (outage) =>
          outage.from < to &&
          outage.to > from &&
          outage.services.includes(service) &&
          (outage.platformName === undefined || outage.platformName === platformName),
      ),
    end() {
      for (const end of ends) end()
      ends.clear()
    },
  }
}

function byNumber(key: ApiKey): readonly [number, ApiKey] {
  return [servicesOf(key).length > 1 ? 4 : 1, key]
}
