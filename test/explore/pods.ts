import { isObject } from '../../src/lib/json.ts'
import { annotationIn } from '../../src/ledger/kubernetes/lease-object.ts'
import { GROUP } from '../../src/ledger/kubernetes/record-object.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { KubeObject } from '../../src/ledger/kubernetes/cluster-api.ts'
import { SECOND, type Endpoint, type Memory, type Model, type Wish } from './model.ts'

/* Two processes of which one acts, and the store of a cluster in which their ledger is. */

export const NAMES = ['one', 'two'] as const
export type PodName = (typeof NAMES)[number]

/** Shorter than what is decided is good for: then it is the Lease alone that keeps a process from sending. */
export const LEASE_MS = 4 * SECOND
/** When who holds the Lease is not heard for so long, another one takes over. */
export const SILENCE_MS = LEASE_MS + SECOND / 2
/** So long after it was sent an upsert may arrive: `--request-timeout`. */
export const REQUEST_MS = 8 * SECOND

export const RECORDS = '/records'
export const LEASES = '/leases'
export const LEDGER = 'pipewright'

export interface Manifests {
  readonly wishes: readonly Wish[]
  readonly endpoint: Endpoint | undefined
}

/** What a process knows that acts. */
export interface Acts {
  readonly memory: Memory
  /** When what the process before it sent can arrive no more; undefined: it has done what is due then. */
  readonly lateUntil: number | undefined
  readonly overtaken: readonly Key[]
  /** Whether its checkout may be older than what was acted on before: that keeps it from acting, for five minutes at most. */
  readonly isOlder: boolean
}

/** What one process knows. Values: whoever changes something of it makes another one. */
export interface Pod {
  /** How often it was started: it has another name for the Lease each time. */
  readonly starts: number
  /** By how much its monotonic clock is behind, since it stood still, ms. */
  readonly behindMs: number
  /** The revision of its checkout, as a place in {@link Pods.git}. */
  readonly checkout: number
  /** What it has read, in order: before it took over, and since. */
  readonly read: readonly number[]
  readonly readSince: readonly number[]
  /** What the process before it acted on, as it was told, and when. */
  readonly begun: { readonly before: string | undefined; readonly at: number } | undefined
  /** Objects of records, as its mirror has them. */
  readonly heard: readonly KubeObject[]
  /** The Lease as it saw it last, and since when. */
  readonly lease: KubeObject | undefined
  readonly leaseSince: number
  /** What it writes into the Lease. */
  readonly actsOn: string | undefined
  /** Undefined: it stands by. */
  readonly acts: Acts | undefined
}

export interface Pods {
  /** By path. */
  readonly objects: Map<string, KubeObject>
  version: number
  readonly all: Pod[]
  /** From the oldest revision on; the last one is what Git says now. */
  readonly git: Manifests[]
  /** The latest revision that a process has acted on. */
  actedOn: number
  /** By how much the clock of a process was behind when it was certain last that it acts: after what it wrote before, and in this look. */
  readonly certainAt: Map<number, number>
  /** `allowedOrigins`, as the platform has it. */
  applied: string | undefined
  /** Upserts that may still arrive. */
  late: readonly { readonly origins: string; readonly before: number }[]
}

export function twoPods(model: Model): Model {
  const pod: Pod = {
    starts: 1,
    behindMs: 0,
    checkout: 0,
    read: [0],
    readSince: [],
    begun: undefined,
    heard: [],
    lease: undefined,
    leaseSince: 0,
    actsOn: undefined,
    acts: undefined,
  }
  const pods: Pods = {
    objects: new Map(),
    version: 100,
    all: [pod, pod],
    git: [manifestsOf(model)],
    actedOn: 0,
    certainAt: new Map(),
    applied: undefined,
    late: [],
  }
  return { ...model, pods }
}

/** The two processes of a world that has them. */
export function podsOf({ pods }: Model): Pods {
  if (pods === undefined) throw new Error('this world has one process')
  return pods
}

export function podAt(model: Model, index: number): Pod {
  const pod = podsOf(model).all[index]
  if (pod === undefined) throw new Error(`there is no process ${index}`)
  return pod
}

export function nameOf(index: number): PodName {
  return NAMES[index === 0 ? 0 : 1]
}

/** What Git says now, as it stays when it is edited. */
export function manifestsOf({ wishes, endpoint }: Pick<Model, 'wishes' | 'endpoint'>): Manifests {
  return { wishes: wishes.map((wish) => ({ ...wish })), endpoint: endpoint && { ...endpoint } }
}

/** Git at a revision, with everything else as it is. */
export function atRevision(model: Model, revision: number): Model {
  const at = podsOf(model).git[revision]
  if (at === undefined) throw new Error(`there is no revision ${revision}`)
  return { ...model, wishes: [...at.wishes], endpoint: at.endpoint }
}

/** The name of a process in the Lease. */
export function holderOf(index: number, { starts }: Pod): string {
  return `${nameOf(index)}-${starts}`
}

/** Who holds a Lease, by its name there. */
export function holderIn(lease: KubeObject | undefined): string | undefined {
  const spec = lease?.['spec']
  const holder = isObject(spec) ? spec['holderIdentity'] : undefined
  return typeof holder === 'string' ? holder : undefined
}

/** The revision that who holds a Lease acts on, as it says there. */
export function revisionIn(lease: KubeObject | undefined): number | undefined {
  const id = annotationIn(lease, `${GROUP}/revision`)
  return id === undefined ? undefined : Number(id.slice('git-'.length))
}
