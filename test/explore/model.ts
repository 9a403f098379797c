import type { Key } from '../../src/kinds/key.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import type { PendingOutcome } from '../../src/reconcile/apply/outcome-outbox.ts'
import type { Observation } from '../../src/reconcile/state/store.ts'
import type { Listing } from '../../src/reconcile/state/listings.ts'
import type { Sent } from '../support/oracle.ts'
import type { Life, Table } from './life.ts'
import type { Pods } from './pods.ts'

/*
 * Everything that there is in a small world at one moment: Git, the platform, the ledger, and what the process remembers. Plain
 * values, so that a story can go on from here in many ways. Times are ms since the story began, by one clock for all.
 */

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
/** Longer than any list is shared. */
export const LISTING_MS = 40 * SECOND
/** What the wall clock says when a story begins. */
export const BEGIN = Date.UTC(2026, 0, 1)

/** Whether a GET finds a pipe: `never` was not shown yet since it was made; `unreadable` is answered by a gateway. */
export type View = 'seen' | 'hidden' | 'unreadable' | 'never'

/** A pipe that somebody asks for. Its manifest may change its name and come and go; what is asked for stays the same pipe. */
export interface Wish {
  /** `metadata.name`, and so the key. */
  name: string
  /** `spec.name`; the same as `name` when absent. */
  platformName: string | undefined
  topics: string
  service: string
  isPresent: boolean
  isSuspended: boolean
  /** Whether its manifest has an error. */
  isFlawed?: boolean
  /** The key of a wish before this one. */
  dependsOn?: Key | undefined
  policy: Readonly<Record<string, string>>
  brokers?: string
  replicas?: number
  table?: string
  tables?: readonly Table[]
  isPaused?: boolean | undefined
  /** Whether the process that lives has read it while it was valid. */
  isKnown?: boolean
}

export interface Pipe {
  readonly id: string
  /** Index of the wish for which Pipewright made it; undefined: a person made it in the console. */
  readonly wish: number | undefined
  readonly intentId: string | undefined
  readonly serviceId: string
  name: string
  readonly topics: string
  /** ms since the story began. */
  readonly madeAt: number
  view: View
  /** Since when a GET would be answered 404. */
  goneSince: number | undefined
  /** Whether another pipe of its service could be read at some time since then. */
  isBeside: boolean
  /** Whether the process that lives was told its id, and no record holds it yet. */
  isTold: boolean
  /** Whether somebody changed it in the console. */
  isChanged?: boolean
  /** Whether the reply to its create said that nothing was created. */
  isDenied?: boolean
  /** Whether its record was lost when a list showed it, and that is all that it is to be found by. */
  isListed?: boolean
  /** On a service that changes pipes. */
  life?: Life
}

/** A create whose sender heard nothing, and which may still arrive. */
export interface LatePost {
  readonly pipe: Pipe
  /** Not at this time or later. */
  readonly before: number
}

/** What a process knows beyond the ledger. */
export interface Memory {
  readonly looks: readonly (readonly [Key, Observation])[]
  /** When the pipe of a key was recorded by this process, by its id. */
  readonly recordedAt: readonly (readonly [string, number])[]
  readonly unsaved: readonly (readonly [Key, PendingOutcome])[]
  /** Whether it has read a valid manifest of each service. */
  readonly knowsServices: boolean
  /** When the last request of a key ended that changes something, where a list of before can count. */
  readonly writes?: readonly (readonly [Key, number])[]
  /** The last list of each service, where that is not too old to count. */
  readonly listings?: readonly (readonly [string, Listing])[]
}

export interface Endpoint {
  isPresent: boolean
  isSuspended: boolean
  origins: string
}

export interface Model {
  now: number
  /** Ids that were given in this step. */
  given: Set<string>
  /** How many versions of records were written. */
  versions: number
  wishes: Wish[]
  endpoint: Endpoint | undefined
  /** `serviceId` by name. */
  services: Record<string, string>
  /** Whether the manifests of services have errors. */
  isServiceFlawed: boolean
  /** Ids that a Lock names, by key. */
  lock: Record<string, string>
  /** Whether the file with the Lock is cut off. */
  isLockBroken: boolean
  /** Of the mounted secret; undefined: it is not mounted. */
  password: string | undefined
  /** Whether the credential may read and create. */
  isPermitted: boolean
  isIdle: boolean
  pipes: Pipe[]
  /** Whether a fault hit one pipe and not all. */
  isHit: boolean
  /** Pipes that could be read at this very moment, with their services: also what is gone or hidden since. */
  shownNow: Map<string, string>
  /** Pipes that were deleted at this very moment: a list may still show them. */
  ghosts: Pipe[]
  /** Ids of pipes whose deletion was begun. */
  deleted: Set<string>
  /** Since when a manifest asks for a deletion, by its wish; one that does not counts once its key was looked at. */
  askedAt: Record<number, number>
  late: LatePost[]
  records: Map<Key, LedgerRecord>
  /** A copy of the ledger that somebody made. */
  copy: ReadonlyMap<Key, LedgerRecord> | undefined
  /** Git and the ledger, as they were when they were backed up. */
  restorable?: {
    readonly wishes: readonly Wish[]
    readonly records: ReadonlyMap<Key, LedgerRecord>
    readonly askedAt: Readonly<Record<number, number>>
  }
  memory: Memory
  isDiskFull: boolean
  /** Whether the ledger cannot be read. */
  isDiskGone: boolean
  /** How far the wall clock was moved, ms. */
  jumpedMs: number
  /** Whether a second daemon ever acted. */
  hasSecond: boolean
  /** What became of the creates that were sent, by their intents. */
  sent: Map<string, Sent>
  /** Intents that created nothing, as a person said. */
  saidRetry: Set<string>
  /** Pipes that belong to a key, as a person or a Lock said. */
  saidPipe: Set<string>
  /** Ids of pipes and intents that a person took into their hands: forced, forgotten, or given up. */
  hands: Set<string>
  /** Ids of pipes of which a person says that they are gone, and which were not read since. */
  saidGone: Set<string>
  /** When the pipe of a wish was last replaced without a person's word. */
  replacedAt: Record<number, number>
  /** Two processes with a ledger in a cluster, in place of the one. */
  pods?: Pods
}

export const BLANK_MEMORY: Memory = { looks: [], recordedAt: [], unsaved: [], knowsServices: true }

/** What a crash leaves of what a process knew. */
export function forgetAll(model: Model): void {
  model.memory = { ...BLANK_MEMORY, knowsServices: !model.isServiceFlawed }
  for (const pipe of model.pipes) {
    pipe.isTold = false
    // It is all done again by a process that does not know that it was done.
    if (pipe.life?.vain?.isKept === false) pipe.life = { ...pipe.life, vain: undefined }
    if (pipe.life?.confirmed?.isKept === false) pipe.life = { ...pipe.life, confirmed: undefined }
  }
  for (const wish of model.wishes) delete wish.isKnown
}

/** A model that may be changed without changing this one. */
export function copyOf(model: Model): Model {
  return {
    ...model,
    wishes: model.wishes.map((wish) => ({ ...wish })),
    endpoint: model.endpoint && { ...model.endpoint },
    services: { ...model.services },
    lock: { ...model.lock },
    pipes: model.pipes.map((pipe) => ({ ...pipe })),
    ghosts: [...model.ghosts],
    deleted: new Set(model.deleted),
    askedAt: { ...model.askedAt },
    late: [...model.late],
    shownNow: new Map(model.shownNow),
    records: new Map(model.records),
    given: new Set(),
    hands: new Set(model.hands),
    saidGone: new Set(model.saidGone),
    sent: new Map(model.sent),
    saidRetry: new Set(model.saidRetry),
    saidPipe: new Set(model.saidPipe),
    replacedAt: { ...model.replacedAt },
    ...(model.pods && { pods: copyOfPods(model.pods) }),
  }
}

function copyOfPods(pods: Pods): Pods {
  return {
    ...pods,
    objects: new Map(pods.objects),
    all: [...pods.all],
    git: [...pods.git],
    late: [...pods.late],
    certainAt: new Map(),
  }
}

/** Outcomes that are in the memory of a process, and in no ledger. */
export function unsavedIn({ memory, pods }: Model): readonly (readonly [Key, PendingOutcome])[] {
  return [...memory.unsaved, ...(pods?.all ?? []).flatMap(({ acts }) => acts?.memory.unsaved ?? [])]
}

/** An id that nothing refers to: the lowest, so that situations that are alike have the same. */
export function newId(model: Model, kind: 'pipe' | 'intent'): string {
  const used = idsIn(model)
  const { given, shownNow, hands, saidGone, saidPipe, saidRetry, sent } = model
  for (const ids of [given, shownNow.keys(), hands, saidGone, saidPipe, saidRetry, sent.keys()])
    for (const id of ids) used.add(id)
  for (let number = 1; ; number += 1) {
    const id = `${FIRST[kind]}-0000-4000-8000-${String(number).padStart(12, '0')}`
    if (used.has(id)) continue
    model.given.add(id)
    return id
  }
}

/** Ids of pipes and intents that are somewhere: what is known of any other is forgotten, and another may have it. */
function idsIn(model: Model): Set<string | undefined> {
  const ids = new Set<string | undefined>()
  for (const { id, intentId } of [...model.pipes, ...model.ghosts, ...model.late.map(({ pipe }) => pipe)])
    ids.add(id).add(intentId)
  for (const { remote, former, replaced, intent } of [
    ...model.records.values(),
    ...(model.copy?.values() ?? []),
    ...(model.restorable?.records.values() ?? []),
  ])
    ids.add(remote?.id).add(former?.remote.id).add(replaced?.id).add(intent?.id)
  const { listings = [] } = model.memory
  for (const [, { intentId }] of unsavedIn(model)) ids.add(intentId)
  for (const [, { items }] of listings) for (const id of items.keys()) ids.add(id)
  for (const id of Object.values(model.lock)) ids.add(id)
  for (const { policy } of model.wishes) for (const id of Object.values(policy)) ids.add(id)
  return ids
}

const FIRST = { pipe: '00000000', intent: 'a0000000' } as const

/** Forgets what was said of what is nowhere any more. */
export function tidy(model: Model): void {
  model.given.clear()
  const all = [model.hands, model.saidGone, model.saidPipe, model.saidRetry, model.deleted, model.sent]
  if (all.every(({ size }) => size === 0)) return
  const ids = idsIn(model)
  for (const said of all) for (const id of said.keys()) if (!ids.has(id)) said.delete(id)
}

export function keyOfWish(wish: Pick<Wish, 'name'>): Key {
  return `Pipe/${wish.name}`
}

/** What a process may look at. */
export function keysOf({
  wishes,
  records,
  endpoint,
}: Pick<Model, 'wishes' | 'records' | 'endpoint'>): readonly Key[] {
  const keys = new Set<Key>([
    ...wishes.filter(({ isPresent }) => isPresent).map(keyOfWish),
    ...records.keys(),
  ])
  if (endpoint !== undefined) keys.add('QueryEndpoint/one')
  return [...keys].toSorted()
}

export function isVisible(model: Model, pipe: Pipe): boolean {
  return pipe.view === 'seen' && model.isPermitted
}

/** `Pipe 3`, as stories name it. */
export function shortId(id: string): string {
  return String(Number(id.slice(-12)))
}
