import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../lib/clock.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Cluster } from './cluster.ts'
import { throwAsLedgerError } from './cluster-error.ts'
import { countOf } from './ledger-secret.ts'
import { findObject, isLater, type ClusterApi, type KubeObject } from './cluster-api.ts'
import { GROUP } from './record-object.ts'

export interface LeaseObjectOptions {
  readonly api: ClusterApi
  readonly patientApi: ClusterApi
  readonly path: string
  readonly name: string
  /** ms without a renewal before another process can take over. */
  readonly durationMs: number
  readonly clock: Clock
  readonly requestTimeoutMs: number
  readonly annotations: () => JsonObject
  readonly onRollback: (what: string) => void
}

export interface SeenLease {
  readonly object: KubeObject
  readonly holder: string
  readonly epoch: number
  readonly durationMs: number
  readonly spec: JsonObject
  /** When this process first saw this `spec`: monotonic ms. */
  readonly since: number
}

export const URL_ANNOTATION = `${GROUP}/url`
export const REVISION_ANNOTATION = `${GROUP}/revision`
export const WRITES_ANNOTATION = `${GROUP}/writes`

/** For how many ms after a takeover a request of an earlier holder might still arrive. */
const LATE_ANNOTATION = `${GROUP}/late-for-ms`

export function lateForIn(lease: KubeObject | undefined): number {
  return countOf(annotationIn(lease, LATE_ANNOTATION)) ?? 0
}

export function writesIn(lease: KubeObject | undefined): number {
  return countOf(annotationIn(lease, WRITES_ANNOTATION)) ?? 0
}

export async function readLease({ api, leases, name }: Cluster): Promise<KubeObject | undefined> {
  return findObject(api, `${leases}/${name}`).catch(throwAsLedgerError)
}

export function createLeaseObject(options: LeaseObjectOptions) {
  const { api, path, name, durationMs, clock } = options
  const own = `${path}/${name}`
  let seen: SeenLease | undefined
  let revision: string | undefined
  let takenAt = -Infinity
  let lateBefore = 0
  let renewals = 0

  function noted(object: KubeObject): SeenLease {
    if (seen?.object.metadata.resourceVersion === object.metadata.resourceVersion) return seen
    const spec = isObject(object['spec']) ? object['spec'] : {}
    const before = isDeepStrictEqual(spec, seen?.spec) ? seen : undefined
    seen = {
      object,
      holder: typeof spec['holderIdentity'] === 'string' ? spec['holderIdentity'] : '',
      epoch: Number(spec['leaseTransitions'] ?? 0),
      durationMs: Number(spec['leaseDurationSeconds'] ?? 0) * 1_000,
      spec: before?.spec ?? spec,
      since: before?.since ?? clock.monotonic(),
    }
    return seen
  }

  function bodyOf(holder: string, epoch: number, over: KubeObject | undefined): JsonObject {
    renewals = (renewals + 1) % 1_000 // each renewal differs, whatever the clock does
    const now = new Date(clock.now()).toISOString().replace('Z', `${String(renewals).padStart(3, '0')}Z`)
    const before = over !== undefined && isObject(over['spec']) ? over['spec'] : {}
    const isTakeover = before['leaseTransitions'] !== epoch
    if (isTakeover) [takenAt, lateBefore] = [clock.monotonic(), lateForIn(over ?? seen?.object)]
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...over?.metadata, name, annotations: annotationsOf(over ?? seen?.object) },
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

  /** Reports an earlier version as a rollback. A new Lease after a deletion is no rollback. */
  function compare(before: SeenLease, now: SeenLease): void {
    const [{ metadata: was }, { metadata: is }] = [before.object, now.object]
    if (was.uid !== is.uid) return
    if (now.epoch < before.epoch || isLater(was.resourceVersion, is.resourceVersion))
      options.onRollback('the Lease is at an earlier version than before')
  }

  return {
    seen: () => seen,
    async read(how?: 'patiently'): Promise<SeenLease | undefined> {
      const before = seen
      const object = await findObject(how === 'patiently' ? options.patientApi : api, own)
      if (object === undefined) return undefined
      // A write by this process during the read might be newer than the reply.
      if (seen !== before) return seen
      const lease = noted(object)
      if (before !== undefined) compare(before, lease)
      return lease
    },
    /** Creates or replaces the Lease. @throws {ClusterError} status 409 if it has changed */
    async write(holder: string, epoch: number, over: SeenLease | undefined): Promise<SeenLease> {
      const body = bodyOf(holder, epoch, over?.object)
      return noted(await (over === undefined ? api.create(path, body) : api.replace(own, body)))
    },
    actOn(next: string) {
      revision = next
    },
  }
}

export function annotationIn(object: KubeObject | undefined, name: string): string | undefined {
  const annotations = object?.metadata['annotations']
  const text = isObject(annotations) ? annotations[name] : undefined
  return typeof text === 'string' ? text : undefined
}
