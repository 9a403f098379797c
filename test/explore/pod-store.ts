import type { Leadership, Term } from '../../src/contract/leadership.ts'
import type { ClusterApi, KubeObject } from '../../src/ledger/kubernetes/cluster-api.ts'
import { createKubernetesLease } from '../../src/ledger/kubernetes/kubernetes-lease.ts'
import type { Mirror } from '../../src/ledger/kubernetes/record-mirror.ts'
import { createTakeover } from '../../src/ledger/kubernetes/open-kubernetes-ledger.ts'
import type { SetClock } from './clock.ts'
import { mirrorOf, noRollback } from './pod-ledger.ts'
import { holderOf, LEASE_MS, LEASES, LEDGER, RECORDS, type Pod } from './pods.ts'

/** The store of a cluster, as one process sees it: the real mirror and the real Lease, which know what they knew before. */
export interface Store {
  /** Notes what the process is told. */
  readonly api: ClusterApi
  readonly mirror: Mirror
  readonly lease: ReturnType<typeof createKubernetesLease>
  readonly leadership: Leadership
  /** Undefined: it stands by. */
  readonly term: Term | undefined
  known(): Pick<Pod, 'heard' | 'lease' | 'leaseSince'>
}

/** Renewals come with the steps of a story, not from the clock. */
const RENEWAL_MS = LEASE_MS / 5

interface Opened {
  readonly index: number
  readonly first: Pod
  readonly clock: SetClock
}

export async function openStore(live: ClusterApi, { index, first, clock }: Opened): Promise<Store> {
  const leaseClock: SetClock = {
    ...clock,
    after: (ms, callback) => (ms === RENEWAL_MS ? () => undefined : clock.after(ms, callback)),
  }
  let isRemembering = true
  const heard = new Map<string, KubeObject>()
  let lease: KubeObject | undefined
  let leaseSince = first.leaseSince

  function noted(path: string, object: KubeObject): KubeObject {
    if (path.startsWith(RECORDS)) heard.set(object.metadata.name, object)
    else if (lease?.metadata.resourceVersion !== object.metadata.resourceVersion) {
      lease = object
      leaseSince = leaseClock.monotonic()
    }
    return object
  }
  const api: ClusterApi = {
    ...live,
    async get(path) {
      const remembered = isRemembering ? first.lease : undefined
      return noted(path, remembered ?? (await live.get(path)))
    },
    async list(path) {
      const listed = isRemembering ? { items: first.heard, resourceVersion: '0' } : await live.list(path)
      heard.clear()
      for (const object of listed.items) noted(path, object)
      return listed
    },
    create: async (path, object) => noted(path, await live.create(path, object)),
    replace: async (path, object) => noted(path, await live.replace(path, object)),
  }
  const mirror = mirrorOf(api, clock)
  await mirror.relist()
  const kubernetes = createKubernetesLease({
    api,
    patientApi: api,
    path: LEASES,
    name: LEDGER,
    holder: holderOf(index, first),
    durationMs: LEASE_MS,
    requestTimeoutMs: 0,
    clock: leaseClock,
    isNew: () => [...mirror.all()].length === 0,
    annotations: () => ({}),
    onRenewal: () => undefined,
    onRollback: noRollback,
  })
  if (first.actsOn !== undefined) kubernetes.actOn(first.actsOn)
  leaseClock.at = first.leaseSince
  // One that acts sees its own name in the Lease, and goes on with that.
  const term = first.acts && (await kubernetes.attempt(new AbortController().signal))
  if (first.acts === undefined && first.lease !== undefined) await kubernetes.read()
  leaseClock.at = undefined
  isRemembering = false
  const leadership = createTakeover({
    lease: kubernetes,
    readAll: () => mirror.relist(),
    clock,
    emit: () => undefined,
  })
  return {
    api,
    mirror,
    lease: kubernetes,
    leadership,
    term,
    known: () => ({ heard: [...heard.values()], lease, leaseSince }),
  }
}
