import type { Key } from '../../kinds/key.ts'
import { createLimitOf, type Creations, isAllowed, limitGroupOf } from '../../plan/create-limit.ts'
import type { FactsOf } from '../../plan/reason.ts'
import type { LedgerRecord, ServiceIdentity } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import { identityOf } from '../state/store.ts'
import { desiredService } from './service-access.ts'

type Known = Pick<ReconcileContext, 'store' | 'clock' | 'maxCreates'>

/** A time that is shown is rounded up to this: ms. So a message says the same for as long as nothing changes. */
const SHOWN_MS = 60_000

/** What the create limit says of a key in its service; undefined: it lets it pass. */
export function createLimitFor(
  context: Known,
  about: {
    readonly key: Key
    readonly recorded: LedgerRecord | undefined
    readonly service: ServiceIdentity
    /** Of its manifest. */
    readonly digest: string | undefined
  },
): FactsOf<'CreateLimit'> | undefined {
  const { store, maxCreates } = context
  const { key, recorded, service, digest } = about
  if (!store.creations.canReach(maxCreates) || isAllowed(recorded, digest, store.steadyNow()))
    return undefined
  return reachedIn(context, service.name, store.creations.in(limitGroupOf(service), key))
}

/** On the wall clock, as people read it. @param steadyTime on the steady clock */
export function shownTime(
  { store, clock }: Pick<Known, 'store' | 'clock'>,
  steadyTime: number | undefined,
): number | undefined {
  if (steadyTime === undefined) return undefined
  return Math.ceil((clock.now() + steadyTime - store.steadyNow()) / SHOWN_MS) * SHOWN_MS
}

/** Whether the create limit would refuse to create a key now. */
export function isLimited(context: Known, key: Key): boolean {
  const { store } = context
  const entry = store.entry(key)
  const service = desiredService(store, entry?.manifest)
  if (!service.usable) return false
  const about = { key, recorded: store.record(key), service: service.identity, digest: entry?.digest }
  return createLimitFor(context, about) !== undefined
}

/** Services in which the create limit is reached, by what is known now; the same one has the same group. */
export function limitedServices(context: Known): readonly LimitedService[] {
  if (!context.store.creations.canReach(context.maxCreates)) return []
  return [...context.store.creations.services()].flatMap(([group, creations]) => {
    const reached = reachedIn(context, creations.service, creations)
    return reached === undefined ? [] : [{ group, keys: creations.keys, ...reached }]
  })
}

function reachedIn(
  { store, clock, maxCreates }: Known,
  service: string,
  creations: Creations,
): FactsOf<'CreateLimit'> | undefined {
  const reached = createLimitOf(creations, maxCreates)
  if (reached === undefined) return undefined
  const { wanted, made, limit, passesAt } = reached
  return { service, wanted, made, limit, until: shownTime({ store, clock }, passesAt) }
}

/** What counts in a service now, by the name of its manifest. */
export function creationsOf(context: Known, name: string): Omit<FactsOf<'CreateLimit'>, 'service' | 'limit'> {
  const { store, maxCreates } = context
  const manifest = store.service(name)
  if (manifest === undefined) return { wanted: 0, made: 0 }
  const creations = store.creations.in(limitGroupOf(identityOf(manifest)))
  const until = shownTime(context, createLimitOf(creations, maxCreates)?.passesAt)
  return { wanted: creations.wanted, made: creations.made.length, until }
}

/** Creations that are wanted in all services. */
export function wantedCreations({ creations }: Known['store']): number {
  return creations
    .services()
    .values()
    .reduce((sum, { wanted }) => sum + wanted, 0)
}

export interface LimitedService extends FactsOf<'CreateLimit'> {
  readonly group: string
  /** Blocked creations. */
  readonly keys: readonly Key[]
}
