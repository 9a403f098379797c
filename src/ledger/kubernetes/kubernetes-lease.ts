import { sleep, type Clock } from '../../lib/clock.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { NotLeading, type Leader, type Leadership, type Term } from '../../contract/leadership.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { ClusterError, type ClusterApi, type KubeObject } from './cluster-api.ts'
import { GROUP } from './record-object.ts'
import { asLedgerError } from './ledger-secret.ts'

export interface KubernetesLeaseOptions {
  readonly api: ClusterApi
  /** Of the collection of Leases. */
  readonly path: string
  readonly name: string
  /** Who this process is: unique to it. */
  readonly holder: string
  /** A Lease that nobody renewed for so long may be taken over: ms. */
  readonly durationMs: number
  readonly clock: Clock
  /** Whether nothing was ever recorded: nobody can have acted. */
  readonly isNew: () => boolean
  /** Written with each renewal. */
  readonly annotations: () => JsonObject
  /** A renewal failed, in words; or works again: said when it changes. */
  readonly onRenewal: (failed: string | undefined) => void
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

/** Whether a Lease is free is looked at this often at least: ms. */
const LONGEST_LOOK_MS = 1_000

const FORBIDDEN = 403

const URL_ANNOTATION = `${GROUP}/url`
/** The revision of the manifests that who holds it acts on. */
const REVISION_ANNOTATION = `${GROUP}/revision`

/**
 * Who acts, by a Lease of the cluster (design §9). Its `leaseTransitions` is the epoch: it grows with each takeover. Nobody's clock is
 * believed: a Lease is taken over once it was seen unchanged for its duration, and who holds it proves it by renewing it.
 */
export function createKubernetesLease(
  options: KubernetesLeaseOptions,
): Leadership & { read(): Promise<SeenLease | undefined> } {
  const { api, path, name, holder, durationMs, clock } = options
  const own = `${path}/${name}`
  /** An attempt to get it, or to renew it, comes so often. */
  const everyMs = durationMs / 5
  let seen: SeenLease | undefined
  let failing: string | undefined
  /** Since when there is no Lease, as far as this process has seen. */
  let missingSince: number | undefined
  let revision: string | undefined
  let term: (Term & { end(why: string): void }) | undefined

  function tell(failed: string | undefined): void {
    const isNews = (failing === undefined) !== (failed === undefined)
    failing = failed
    if (isNews) options.onRenewal(failed)
  }

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

  async function read(): Promise<SeenLease | undefined> {
    try {
      const lease = noted(await api.get(own))
      missingSince = undefined
      return lease
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) return undefined
      throw error
    }
  }

  function bodyOf(who: string, epoch: number, over: KubeObject | undefined): JsonObject {
    const now = new Date(clock.now()).toISOString().replace('Z', '000Z') // to the microsecond, as Kubernetes writes it
    const before = over !== undefined && isObject(over['spec']) ? over['spec'] : {}
    const isTakeover = before['leaseTransitions'] !== epoch
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...over?.metadata, name, annotations: annotationsOf(over) },
      spec: {
        holderIdentity: who,
        leaseDurationSeconds: Math.ceil(durationMs / 1_000),
        leaseTransitions: epoch,
        acquireTime: isTakeover ? now : (before['acquireTime'] ?? now),
        renewTime: now,
      },
    }
  }

  /** Who has acted on nothing yet keeps what was acted on before. */
  function annotationsOf(over: KubeObject | undefined): JsonObject {
    const actedOn = revision ?? annotationIn(over, REVISION_ANNOTATION)
    return {
      ...options.annotations(),
      ...(actedOn !== undefined && { [REVISION_ANNOTATION]: actedOn }),
    }
  }

  /** Whether nobody is known to hold it: it was released, or its holder is silent. */
  function isFree(lease: SeenLease): boolean {
    return lease.holder === '' || clock.monotonic() - lease.since >= Math.max(lease.durationMs, durationMs)
  }

  /** Where there is none: whoever held one that was deleted may act for as long as that would have lasted. */
  function isFreeWithout(): boolean {
    if (seen === undefined && options.isNew()) return true
    missingSince ??= clock.monotonic()
    return clock.monotonic() - missingSince >= Math.max(seen?.durationMs ?? 0, durationMs)
  }

  /** @returns the Lease, held by this process in a new epoch; undefined: another process has it, or was quicker */
  async function take(): Promise<SeenLease | undefined> {
    const lease = await read()
    // Taken by an attempt of this process whose reply was lost.
    if (lease?.holder === holder) return lease
    if (lease === undefined ? !isFreeWithout() : !isFree(lease)) return undefined
    const epoch = (seen?.epoch ?? 0) + 1
    const body = bodyOf(holder, epoch, lease?.object)
    try {
      return noted(await (lease === undefined ? api.create(path, body) : api.replace(own, body)))
    } catch (error) {
      if (error instanceof ClusterError && error.status === 409) return undefined
      throw error
    }
  }

  async function acquire(signal: AbortSignal, whileTaken: 'wait' | 'refuse'): Promise<Term> {
    let taken: SeenLease | undefined
    if (term !== undefined && !term.over.aborted) return term
    for (;;) {
      signal.throwIfAborted()
      try {
        const lease = await take()
        tell(undefined)
        if (lease !== undefined) return begin(lease.epoch, annotationIn(lease.object, REVISION_ANNOTATION))
        // One that is renewed has a process that lives.
        if (whileTaken === 'refuse' && taken !== undefined && seen !== taken) throw isLed(seen)
        taken = seen
      } catch (error) {
        if (!(error instanceof ClusterError)) throw asLedgerError(error)
        tell(error.message)
        // Somebody is at hand who can say that it may: nothing changes by itself.
        if (whileTaken === 'refuse' && error.status === FORBIDDEN) throw asLedgerError(error)
      }
      await sleep(clock, Math.min(everyMs, LONGEST_LOOK_MS), signal)
    }
  }

  function isLed(lease: SeenLease | undefined): LedgerError {
    return new LedgerError(
      'locked',
      `another pipewright acts with this ledger (${lease?.holder ?? 'which one is not known'}). Ask it with "pipewright reconcile --wait", or stop it.`,
    )
  }

  function begin(epoch: number, revisionBefore: string | undefined): Term & { end(why: string): void } {
    const over = new AbortController()
    let current: Promise<number> | undefined
    let next: Promise<number> | undefined
    let cancel: (() => void) | undefined

    function end(why: string): void {
      cancel?.()
      if (!over.signal.aborted) over.abort(new NotLeading(why, true))
    }

    /** @returns as {@link Term.confirm} @throws {NotLeading} unless this process held it in this epoch when it was written */
    async function renew(): Promise<number> {
      for (;;) {
        over.signal.throwIfAborted()
        const lease = seen
        if (lease === undefined || lease.holder !== holder || lease.epoch !== epoch) {
          end(`${lease?.holder ?? 'nobody'} has taken over`)
          continue
        }
        try {
          const begunAt = clock.monotonic()
          noted(await api.replace(own, bodyOf(holder, epoch, lease.object)))
          tell(undefined)
          // Whoever takes over has seen it unchanged for so long.
          return begunAt + durationMs
        } catch (error) {
          if (!(error instanceof ClusterError)) throw error
          if (error.status === 404) end('the Lease was deleted')
          // Somebody else has written it; or an earlier renewal, whose reply was lost.
          else if (error.status === 409) await again(read)
          else {
            tell(error.message)
            throw new NotLeading(`the Lease cannot be renewed: ${error.message}`, false)
          }
        }
      }
    }

    async function again(reading: () => Promise<SeenLease | undefined>): Promise<void> {
      try {
        if ((await reading()) === undefined) end('the Lease was deleted')
      } catch (error) {
        if (!(error instanceof ClusterError)) throw error
        tell(error.message)
        throw new NotLeading(`the Lease cannot be read: ${error.message}`, false)
      }
    }

    function start(): Promise<number> {
      const renewal = renew().finally(() => {
        if (current === renewal) current = undefined
      })
      current = renewal
      return renewal
    }

    /** One renewal serves all that asked before it began. */
    function confirm(): Promise<number> {
      if (current === undefined) return start()
      next ??= current
        .catch(() => undefined)
        .then(() => {
          next = undefined
          return start()
        })
      return next
    }

    function keepOn(): void {
      cancel = clock.after(everyMs, () => {
        confirm()
          .catch(() => undefined) // told by itself
          .finally(() => {
            if (!over.signal.aborted) keepOn()
          })
      })
    }

    keepOn()
    const made = {
      epoch,
      mayBeLate: epoch > 1 || !options.isNew(),
      revisionBefore,
      over: over.signal,
      confirm,
      end,
      async release() {
        cancel?.()
        if (over.signal.aborted) return
        await current?.catch(() => undefined)
        const lease = seen
        end('it was released')
        if (lease === undefined || lease.holder !== holder || lease.epoch !== epoch) return
        try {
          noted(await api.replace(own, bodyOf('', epoch, lease.object)))
        } catch (error) {
          if (!(error instanceof ClusterError)) throw error // it is taken over a little later
        }
      },
    }
    term = made
    return made
  }

  async function attempt(): Promise<Term | undefined> {
    if (term !== undefined && !term.over.aborted) return term
    try {
      const lease = await take()
      return lease && begin(lease.epoch, annotationIn(lease.object, REVISION_ANNOTATION))
    } catch (error) {
      throw asLedgerError(error)
    }
  }

  return {
    isShared: true,
    acquire,
    attempt,
    actOn(next) {
      revision = next
    },
    read,
    leader(): Leader | undefined {
      if (seen === undefined || seen.holder === '') return undefined
      return { holder: seen.holder, epoch: seen.epoch, url: annotationIn(seen.object, URL_ANNOTATION) }
    },
    async [Symbol.asyncDispose]() {
      await term?.release()
    },
  }
}

export function annotationIn(object: KubeObject | undefined, name: string): string | undefined {
  const annotations = object?.metadata['annotations']
  const text = isObject(annotations) ? annotations[name] : undefined
  return typeof text === 'string' ? text : undefined
}
