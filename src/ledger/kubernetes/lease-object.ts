import type { Clock } from '../../lib/clock.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { ClusterError } from './cluster-error.ts'
import { countOf } from './ledger-secret.ts'
import { isLater, type ClusterApi, type KubeObject } from './cluster-api.ts'
import { GROUP } from './record-object.ts'

export interface LeaseObjectOptions {
  readonly api: ClusterApi
  /** The same, that waits longer. */
  readonly patientApi: ClusterApi
  /** Of the collection of Leases. */
  readonly path: string
  readonly name: string
  /** A Lease that nobody renewed for so long may be taken over: ms. */
  readonly durationMs: number
  readonly clock: Clock
  /** A request of this process may arrive so long after it was sent: ms. */
  readonly requestTimeoutMs: number
  /** Written with each renewal. */
  readonly annotations: () => JsonObject
  /** It was put back to an earlier state: what was lost, in words. */
  readonly onSetBack: (what: string) => void
}

/** A Lease of the cluster as it was read, and since when it is so. */
export interface SeenLease {
  readonly object: KubeObject
  readonly holder: string
  readonly epoch: number
  /** What another process must see unchanged before it takes over: ms. */
  readonly durationMs: number
  /** When this process saw it for the first time: on its monotonic clock. No clock of anybody else counts. */
  readonly since: number
}

/** The Lease, as this process has seen it last. */
export interface LeaseObject {
  seen(): SeenLease | undefined
  /** @param how `patiently` where the answer may take long @returns undefined: there is none @throws {ClusterError} */
  read(how?: 'patiently'): Promise<SeenLease | undefined>
  /**
   * Writes it over the one that was seen; or makes it, over none.
   * @throws {ClusterError} status 409 where another one is there
   */
  write(holder: string, epoch: number, over: SeenLease | undefined): Promise<SeenLease>
  /** As `Leadership.actOn`. */
  actOn(revision: string): void
}

export const URL_ANNOTATION = `${GROUP}/url`
/** The revision of the manifests that who holds it acts on. */
export const REVISION_ANNOTATION = `${GROUP}/revision`
/** How often the records had been written when it was renewed. */
export const WRITES_ANNOTATION = `${GROUP}/writes`

/** So long after it was sent a request of whoever holds it may arrive, and one of who held it before: ms. */
const LATE_ANNOTATION = `${GROUP}/late-for-ms`

/** @returns ms */
export function lateForIn(lease: KubeObject | undefined): number {
  return countOf(annotationIn(lease, LATE_ANNOTATION)) ?? 0
}

export function createLeaseObject(options: LeaseObjectOptions): LeaseObject {
  const { api, path, name, durationMs, clock } = options
  const own = `${path}/${name}`
  let seen: SeenLease | undefined
  let revision: string | undefined
  /** When it was taken by this process; on the monotonic clock. */
  let takenAt = -Infinity
  /** {@link lateForIn} of it then. */
  let lateBefore = 0

  function noted(object: KubeObject): SeenLease {
    if (seen?.object.metadata.resourceVersion === object.metadata.resourceVersion) return seen
    const spec = isObject(object['spec']) ? object['spec'] : {}
    seen = {
      object,
      holder: typeof spec['holderIdentity'] === 'string' ? spec['holderIdentity'] : '',
      epoch: Number(spec['leaseTransitions'] ?? 0),
      durationMs: Number(spec['leaseDurationSeconds'] ?? 0) * 1_000,
      since: clock.monotonic(),
    }
    return seen
  }

  function bodyOf(holder: string, epoch: number, over: KubeObject | undefined): JsonObject {
    const now = new Date(clock.now()).toISOString().replace('Z', '000Z') // to the microsecond, as Kubernetes writes it
    const before = over !== undefined && isObject(over['spec']) ? over['spec'] : {}
    const isTakeover = before['leaseTransitions'] !== epoch
    if (isTakeover) [takenAt, lateBefore] = [clock.monotonic(), lateForIn(over)]
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...over?.metadata, name, annotations: annotationsOf(over) },
      spec: {
        holderIdentity: holder,
        leaseDurationSeconds: Math.ceil(durationMs / 1_000),
        leaseTransitions: epoch,
        acquireTime: isTakeover ? now : (before['acquireTime'] ?? now),
        renewTime: now,
      },
    }
  }

  function lateForMs(): number {
    const isOver = clock.monotonic() - takenAt >= lateBefore
    return isOver ? options.requestTimeoutMs : Math.max(lateBefore, options.requestTimeoutMs)
  }

  /** Who has acted on nothing yet, or read no records yet, keeps what was said of them before. */
  function annotationsOf(over: KubeObject | undefined): JsonObject {
    const annotations: Record<string, string> = {}
    for (const kept of [REVISION_ANNOTATION, WRITES_ANNOTATION]) {
      const text = annotationIn(over, kept)
      if (text !== undefined) annotations[kept] = text
    }
    return {
      ...annotations,
      ...options.annotations(),
      [LATE_ANNOTATION]: String(lateForMs()),
      ...(revision !== undefined && { [REVISION_ANNOTATION]: revision }),
    }
  }

  /** One that was deleted and made again is another one. */
  function compare(before: SeenLease, now: SeenLease): void {
    const [{ metadata: was }, { metadata: is }] = [before.object, now.object]
    if (was.uid !== is.uid) return
    if (now.epoch < before.epoch)
      options.onSetBack(`the Lease had been taken ${before.epoch} times, and says ${now.epoch}`)
    else if (isLater(was.resourceVersion, is.resourceVersion))
      // Without its versions: each process has seen another one last.
      options.onSetBack('the Lease is at an earlier version than it was')
  }

  return {
    seen: () => seen,
    async read(how) {
      const before = seen
      try {
        const object = await (how === 'patiently' ? options.patientApi : api).get(own)
        // This answer may be older than what was heard meanwhile.
        if (seen !== before) return seen
        const lease = noted(object)
        if (before !== undefined) compare(before, lease)
        return lease
      } catch (error) {
        if (error instanceof ClusterError && error.status === 404) return undefined
        throw error
      }
    },
    async write(holder, epoch, over) {
      const body = bodyOf(holder, epoch, over?.object)
      return noted(await (over === undefined ? api.create(path, body) : api.replace(own, body)))
    },
    actOn(next) {
      revision = next
    },
  }
}

export function annotationIn(object: KubeObject | undefined, name: string): string | undefined {
  const annotations = object?.metadata['annotations']
  const text = isObject(annotations) ? annotations[name] : undefined
  return typeof text === 'string' ? text : undefined
}
