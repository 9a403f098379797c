import { hostname } from 'node:os'
import { decodeActivity } from '../codec.ts'
import { assertBinding, movedAway, newBinding, type Binding } from '../binding.ts'
import type { Activity } from '../../contract/activity.ts'
import type { Emit } from '../../contract/events.ts'
import { LedgerError, type OpenedLedger } from '../../contract/ledger.ts'
import type { JsonObject } from '../../lib/json.ts'
import { TIMEOUT_MS, openCluster, type ClusterPlace } from './cluster.ts'
import { ClusterError, asLedgerError, throwAsLedgerError } from './cluster-error.ts'
import { AGAIN_MS, TRIES, createKubernetesLease } from './kubernetes-lease.ts'
import { createKubernetesLedger } from './kubernetes-ledger.ts'
import { URL_ANNOTATION, WRITES_ANNOTATION, annotationIn, readLease, writesIn } from './lease-object.ts'
import { createLedgerRollback, writesRollback } from './ledger-rollback.ts'
import { createLedgerSecret, packedNotes, readLedgerSecret, type LedgerSecret } from './ledger-secret.ts'
import { createMirror, type Mirror } from './record-mirror.ts'
import { GROUP } from './record-object.ts'
import { aborted, sleep, type Clock } from '../../lib/clock.ts'
import type { Leadership, Term } from '../../contract/leadership.ts'

export interface KubernetesLedgerOptions extends Binding, ClusterPlace {
  /** `owner` can become leader. `reader` writes no changes. */
  readonly mode: 'owner' | 'reader'
  readonly evenMoved?: true
  readonly init: 'auto' | 'never'
  readonly processId: string
  /** Lease duration in ms. Default: 15 s. */
  readonly leaseMs?: number | undefined
  /** ms after which a request of a former leader can no longer reach the platform. Default: 0. */
  readonly requestTimeoutMs?: number | undefined
  readonly emit: Emit
}

const LEASE_MS = 15_000

export async function openKubernetesLedger(options: KubernetesLedgerOptions): Promise<OpenedLedger> {
  const { clock, emit, mode } = options
  await using stack = new AsyncDisposableStack()
  const cluster = stack.use(await openCluster(options))
  const { api, name, shown, records } = cluster
  const leaseMs = options.leaseMs ?? LEASE_MS
  // Separate connections with a short timeout, because a hanging renewal must not lose the Lease.
  const leaseApi = stack.use(cluster.apiWithin(Math.min(TIMEOUT_MS, leaseMs / 5)))
  const tellRead = (result: 'read' | 'failed' | 'ignored', message: string | undefined) =>
    emit({ type: 'LedgerRead', result, durationMs: 0, message })
  const mirror = stack.use(
    createMirror({
      api,
      path: records,
      ledger: name,
      clock,
      onSilence: (why) => tellRead(why === undefined ? 'read' : 'failed', why),
      onRollback: (what) => rollback.notice(what),
      onCurrent: () => rollback.noteCurrent(),
      onUnreadable: ({ message }) => tellRead('failed', message),
      onIgnored: (message) => tellRead('ignored', message),
    }),
  )
  const found = await readLedgerSecret(cluster)
  // The Lease is read before the records, because a write in between must not count as lost.
  const leaseBefore = found && (await readLease(cluster))
  await readRecords(mirror, shown, found ? 'corrupt' : 'missing')
  if (found !== undefined && mode === 'owner') assertNotMoved(options, shown, found)
  if (found === undefined) assertMayStart(mirror, shown, options)
  const secret = found ?? (await createLedgerSecret(cluster))
  if (secret.hasRecords() && isEmpty(mirror)) throw recordsGone(shown, name)
  const rollback = stack.use(createLedgerRollback({ secret, clock, isReader: mode === 'reader', emit }))
  const lost = writesRollback(writesIn(leaseBefore), mirror.writes())
  // A process that can become leader notices the rollback in `begin`.
  if (lost !== undefined && mode === 'reader' && rollback.known() === undefined) rollback.notice(lost)
  const bound = () => ({ platform: secret.platform(), profile: secret.profile() })
  const hasRecords = () => [...mirror.all()].some(({ body }) => body !== undefined)
  if (hasRecords()) assertBinding(shown, bound(), options)

  let activity: Activity | undefined
  const lease = stack.use(
    createKubernetesLease({
      api: leaseApi,
      patientApi: api,
      isNew: () => isEmpty(mirror),
      path: cluster.leases,
      name,
      holder: `${hostname()}_${options.processId}`,
      durationMs: leaseMs,
      requestTimeoutMs: options.requestTimeoutMs ?? 0,
      clock,
      annotations: (): JsonObject => ({
        ...(activity && { [`${GROUP}/activity`]: JSON.stringify(activity) }),
        ...(activity?.url !== undefined && { [URL_ANNOTATION]: activity.url }),
        // The stored count never falls, because a rollback is detected if the records show fewer writes.
        [WRITES_ANNOTATION]: String(Math.max(mirror.writes(), writesIn(lease.seen()?.object))),
      }),
      onRollback: (what) => rollback.notice(what),
      onRenewal: (failed) =>
        emit({
          type: 'LeaseRenewed',
          result: failed === undefined ? 'renewed' : 'failed',
          message: failed,
        }),
    }),
  )
  let marking: Promise<void> | undefined
  async function noteRecords(): Promise<void> {
    if (secret.hasRecords()) return
    marking ??= secret.change({ hasRecords: 'true' }).finally(() => {
      marking = undefined
    })
    await marking
  }
  const ledger = createKubernetesLedger({
    api,
    mirror,
    hashKey: secret.hashKey,
    rollback,
    lease,
    isOwner: mode === 'owner',
    clock,
    emit,
    activity: {
      note: (next) => {
        activity = next
      },
      async read() {
        const seen = await lease.read('patiently').catch(throwAsLedgerError)
        const text = annotationIn(seen?.object, `${GROUP}/activity`)
        return { last: decodeActivity(text), isOwned: seen !== undefined && seen.holder !== '' }
      },
    },
    noteRecords,
  })
  if (mode === 'owner') mirror.follow()
  stack.use(ledger)
  const resources = stack.move()
  /** Runs before this leader acts, because it must know all intents of the previous leader. */
  async function begin(): Promise<void> {
    await mirror.relist()
    // Read again, because another process might have stored its platform in the Secret.
    await secret.read('platform')
    const next = newBinding(shown, bound(), options, hasRecords())
    if (next !== undefined) await secret.change({ platform: next.platform, profile: next.profile })
    assertNotMoved(options, shown, secret)
    const lostSince = writesRollback(writesIn(lease.seen()?.object), mirror.writes())
    // If a rollback is already known, this one is not reported, because it can be the same one.
    if (lostSince !== undefined && rollback.known() === undefined) rollback.notice(lostSince)
    // The previous leader might have ended between its first write and `noteRecords`.
    if (!isEmpty(mirror)) await noteRecords()
  }

  const leadership = createTakeover({ lease, readAll: begin, clock, emit })
  return {
    ledger: Object.assign(ledger, {
      movedAt: secret.movedAt(),
      [Symbol.asyncDispose]: () => resources.disposeAsync(),
    }),
    leadership,
    notes: packedNotes(secret),
  }
}

export async function unbindKubernetesLedger(options: ClusterPlace): Promise<string | undefined> {
  await using cluster = await openCluster(options)
  const secret = await readLedgerSecret(cluster)
  const platform = secret?.platform()
  await secret?.change({ platform: undefined })
  return platform
}

async function readRecords(mirror: Mirror, shown: string, code: LedgerError['code']): Promise<void> {
  try {
    await mirror.relist()
  } catch (error) {
    if (!(error instanceof ClusterError) || error.status !== 404) throw asLedgerError(error)
    throw new LedgerError(
      code,
      `the cluster cannot keep the ledger ${shown}: the CustomResourceDefinition of PipewrightRecords is missing. ` +
        'The chart installs it. See "kubectl get crd pipewrightrecords.pipewright.dev".',
      { cause: error },
    )
  }
}

function assertNotMoved({ evenMoved }: KubernetesLedgerOptions, shown: string, secret: LedgerSecret): void {
  const at = secret.movedAt()
  if (at !== undefined && evenMoved === undefined) throw movedAway(shown, at)
}

function isEmpty(mirror: Mirror): boolean {
  return [...mirror.all()].length === 0
}

function assertMayStart(mirror: Mirror, shown: string, { init, mode }: KubernetesLedgerOptions): void {
  if (!isEmpty(mirror))
    throw new LedgerError(
      'corrupt',
      `the ledger ${shown} has records, but its Secret is missing. Without it, Pipewright cannot notice ` +
        'changed secrets. If an import was interrupted, repeat it. Otherwise, restore the Secret from a backup.',
    )
  if (mode === 'reader')
    throw new LedgerError(
      'missing',
      `there is no ledger ${shown}. It was never used, or --ledger names the wrong ledger.`,
    )
  if (init === 'never')
    throw new LedgerError(
      'missing',
      `there is no ledger ${shown}. --ledger-init=never forbids a first run. Check --ledger. ` +
        'If the ledger was lost, restore its Secret and records from a backup. For a first run, use --ledger-init=auto once.',
    )
}

function recordsGone(shown: string, name: string): LedgerError {
  return new LedgerError(
    'corrupt',
    `the ledger ${shown} had records, and has none: they were deleted, perhaps with their definition. Restore ` +
      `them from a backup. If they are not needed, stop every process of this ledger, and delete its Secret and Lease ${name}. The next start is then a first run.`,
  )
}

/** Ms without the Lease after {@link TRIES} failed reads, so another process can try. */
const LET_GO_MS = 5_000

/** Reads all records before this process acts, because they hold the previous leader's intents. */
export function createTakeover(parts: {
  readonly lease: Leadership
  readonly readAll: () => Promise<void>
  readonly clock: Clock
  readonly emit: Emit
}): Leadership {
  const { lease, readAll, clock, emit } = parts

  /** @returns false: the records cannot be read or another process acts; the Lease is released */
  async function hasBegun(term: Term, signal: AbortSignal): Promise<boolean> {
    const end = AbortSignal.any([signal, term.over])
    for (let tries = 1; tries <= TRIES && !end.aborted; tries += 1) {
      try {
        const isRead = await Promise.race([readAll().then(() => true), aborted(end)])
        if (isRead === true) return true
        break
      } catch (error) {
        if (end.aborted) break
        if (!(error instanceof ClusterError || (error instanceof LedgerError && error.code === 'io'))) {
          await term.release()
          throw error
        }
        emit({ type: 'LedgerRead', result: 'failed', durationMs: 0, message: error.message })
      }
      await sleep(clock, AGAIN_MS, end).catch(() => undefined)
    }
    await term.release()
    signal.throwIfAborted()
    return false
  }

  return {
    ...lease,
    async acquire(signal, ...how) {
      for (;;) {
        const term = await lease.acquire(signal, ...how)
        if (await hasBegun(term, signal)) return term
        await sleep(clock, LET_GO_MS, signal)
      }
    },
    async attempt(signal) {
      const term = await lease.attempt(signal)
      if (term === undefined) return undefined
      return (await hasBegun(term, signal)) ? term : undefined
    },
  }
}
