import type { ErrorClass } from '../../src/reconcile/remote-error.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { ModelPipe } from '../reconcile/model-platform.ts'
import type { Obstacles } from '../reconcile/obstacles.ts'

/*
 * What the platform shows, within what is promised of it (docs/guarantees.md): a pipe that was seen answers 404 for fifteen
 * minutes at most while creates are allowed, and for a minute at most beside another pipe of its service that is found, unless
 * creates are refused too. A gateway may say 404, and a pipe that was never seen may stay out of sight, without limit.
 */

const LONGEST_MS = 15 * 60_000
const BESIDE_MS = 60_000
/** So long after a pipe is shown again its create is still refused: a look from before must not be followed by it. */
const LINGERING_MS = 25_000

/** Pipes that are out of sight. */
export interface Hiding {
  readonly who: 'pipe' | 'service' | 'all'
  readonly serviceId: string
  /** Of the one pipe, by which it is known whatever its name. */
  readonly topics: string
  readonly how: 'missing' | 'gateway'
  /** How creates are refused; undefined: they are allowed. */
  readonly creates: ErrorClass | undefined
}

export interface Sight extends Pick<Obstacles, 'read' | 'create'> {
  hide(hiding: Hiding): void
  /** @param who undefined: everything is shown again, at once */
  show(who?: Hiding['who']): void
  /** Whether a pipe, or its like, may not be created now. */
  refuses(serviceId: string, topics: string): boolean
}

/** What was said of one pipe. */
interface Said {
  isSeen: boolean
  /** ms on the monotonic clock; the first 404 since it was last found. */
  missedSince: number | undefined
  /** Since when others of its service were found meanwhile, and who. */
  besideSince: number | undefined
  readonly witnesses: Set<string>
}

export function createSight(clock: Pick<Clock, 'monotonic'>): Sight {
  let hidings: readonly Hiding[] = []
  let lingering: readonly { readonly hiding: Hiding; readonly until: number }[] = []
  const said = new Map<string, Said & { readonly serviceId: string }>()

  function of({ id, serviceId }: ModelPipe): Said {
    const known = said.get(id)
    if (known !== undefined) return known
    const blank = { isSeen: false, missedSince: undefined, besideSince: undefined, serviceId }
    const made = { ...blank, witnesses: new Set<string>() }
    said.set(id, made)
    return made
  }

  function refusal(serviceId: string, topics: string): ErrorClass | undefined {
    const now = clock.monotonic()
    const past = lingering.filter(({ until }) => until > now).map(({ hiding }) => hiding)
    return [...hidings, ...past].find(
      (hiding) => hiding.creates !== undefined && isMeant(hiding, serviceId, topics),
    )?.creates
  }

  /** Whether it may be said now that a pipe is not there. */
  function mayMiss({ isSeen, missedSince, besideSince }: Said, isRefused: boolean): boolean {
    const now = clock.monotonic()
    if (!isSeen || isRefused || missedSince === undefined) return true
    return now - missedSince < LONGEST_MS && (besideSince === undefined || now - besideSince < BESIDE_MS)
  }

  function found(pipe: ModelPipe, it: Said): undefined {
    it.isSeen = true
    it.missedSince = undefined
    it.besideSince = undefined
    it.witnesses.clear()
    for (const other of othersOf(pipe)) {
      if (other.missedSince === undefined) continue
      other.besideSince ??= clock.monotonic()
      other.witnesses.add(pipe.id)
    }
  }

  function missed(pipe: ModelPipe, it: Said): 'missing' {
    it.missedSince ??= clock.monotonic()
    for (const other of othersOf(pipe)) {
      other.witnesses.delete(pipe.id)
      if (other.witnesses.size === 0) other.besideSince = undefined
    }
    return 'missing'
  }

  function othersOf({ id, serviceId }: ModelPipe): readonly Said[] {
    return [...said].filter(([other, it]) => other !== id && it.serviceId === serviceId).map(([, it]) => it)
  }

  return {
    hide(hiding) {
      hidings = [...hidings, hiding]
    },
    show(who) {
      const over = hidings.filter((hiding) => who === undefined || hiding.who === who)
      const until = clock.monotonic() + LINGERING_MS
      lingering = [...lingering, ...over.map((hiding) => ({ hiding, until }))]
      hidings = hidings.filter((hiding) => !over.includes(hiding))
    },
    refuses: (serviceId, topics) => refusal(serviceId, topics) !== undefined,
    read(pipe, isMissed) {
      const topics = topicsOf(pipe.body)
      const hiding = hidings.filter((one) => isMeant(one, pipe.serviceId, topics))
      if (hiding.some(({ how }) => how === 'gateway')) return 'gateway'
      const it = of(pipe)
      const isHidden = isMissed || hiding.length > 0
      if (!isHidden || !mayMiss(it, refusal(pipe.serviceId, topics) !== undefined)) return found(pipe, it)
      return missed(pipe, it)
    },
    create: (serviceId, body) => refusal(serviceId, topicsOf(body)),
  }
}

function isMeant({ who, serviceId: its, topics: mine }: Hiding, serviceId: string, topics: string): boolean {
  switch (who) {
    case 'pipe':
      return mine === topics
    case 'service':
      return its === serviceId
    case 'all':
      return true
  }
}

/** What tells a pipe from the others, through all its names. */
export function topicsOf(body: JsonObject): string {
  const { kafka } = body['source'] as { readonly kafka: { readonly topics: string } } // all pipes here have it
  return kafka.topics
}
