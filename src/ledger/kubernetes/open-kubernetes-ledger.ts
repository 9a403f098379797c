import { hostname } from 'node:os'
import type { Clock } from '../../lib/clock.ts'
import { decodeActivity } from '../codec.ts'
import { assertBinding, keptProfile, type Binding } from '../binding.ts'
import type { Activity } from '../../contract/activity.ts'
import type { Emit } from '../../contract/events.ts'
import { LedgerError, type OpenedLedger } from '../../contract/ledger.ts'
import { openClusterAccess, type Environment } from './cluster-access.ts'
import { createClusterApi, ClusterError, type ClusterApi } from './cluster-api.ts'
import { annotationIn, createKubernetesLease } from './kubernetes-lease.ts'
import { createKubernetesLedger } from './kubernetes-ledger.ts'
import { asLedgerError, createLedgerSecret, readLedgerSecret, type LedgerSecret } from './ledger-secret.ts'
import { createMirror, type Mirror } from './record-mirror.ts'
import { API_VERSION, GROUP, LEDGER_LABEL } from './record-object.ts'
import { createTakeover } from './takeover.ts'

export interface KubernetesLedgerOptions extends Binding {
  /** What follows `kubernetes:` in `--ledger`. */
  readonly place: string
  /** As for a file: `owner` may act, `writer` is a person's command, `reader` changes nothing. */
  readonly mode: 'owner' | 'writer' | 'reader'
  /** Whether a missing ledger is a first run, or an error. */
  readonly init: 'auto' | 'never'
  readonly env: Environment
  /** Unique to this process. */
  readonly processId: string
  /** 15 s when absent. */
  readonly leaseMs?: number | undefined
  readonly clock: Clock
  readonly emit: Emit
}

const TIMEOUT_MS = 10_000
const LEASE_MS = 15_000
const NAME = /^(?:([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)\/)?([a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?)$/

/** Namespace, if any, and name. @throws {LedgerError} */
function placeOf(place: string): { readonly namespace: string | undefined; readonly name: string } {
  const [, namespace, , name] = NAME.exec(place) ?? []
  if (name === undefined)
    throw new LedgerError(
      'io',
      `"kubernetes:${place}" names no ledger: give kubernetes:NAME or kubernetes:NAMESPACE/NAME, of lower-case letters, digits and "-".`,
    )
  return { namespace, name }
}

/** Where the parts of a ledger are in a cluster. */
export interface Cluster extends AsyncDisposable {
  readonly api: ClusterApi
  /** The same, that gives up earlier: ms. */
  readonly apiWithin: (timeoutMs: number) => ClusterApi
  readonly name: string
  /** As it is named in messages. */
  readonly shown: string
  readonly records: string
  readonly secrets: string
  readonly leases: string
  /** Of its records among those of others. */
  readonly selector: string
}

/** @throws {LedgerError} */
export async function openCluster({
  env,
  place,
  clock,
}: Pick<KubernetesLedgerOptions, 'env' | 'place' | 'clock'>): Promise<Cluster> {
  const access = await openClusterAccess(env)
  const { namespace = access.namespace, name } = placeOf(place)
  const apiWithin = (timeoutMs: number) =>
    createClusterApi({ access, userAgent: 'pipewright', timeoutMs, now: () => clock.now() })
  const api = apiWithin(TIMEOUT_MS)
  return {
    api,
    apiWithin,
    name,
    shown: `kubernetes:${namespace}/${name}`,
    records: `/apis/${API_VERSION}/namespaces/${namespace}/pipewrightrecords`,
    secrets: `/api/v1/namespaces/${namespace}/secrets`,
    leases: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
    selector: `${LEDGER_LABEL}=${name}`,
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  }
}

/** The ledger in the store of a Kubernetes cluster (design §9). @throws {LedgerError} */
export async function openKubernetesLedger(options: KubernetesLedgerOptions): Promise<OpenedLedger> {
  const { clock, emit, mode } = options
  await using stack = new AsyncDisposableStack()
  const cluster = stack.use(await openCluster(options))
  const { api, name, shown, records, secrets } = cluster
  const leaseMs = options.leaseMs ?? LEASE_MS
  // Of its own connections, and less patient: a renewal that hangs must not cost the Lease.
  const leaseApi = stack.use(cluster.apiWithin(Math.min(TIMEOUT_MS, leaseMs / 5)))
  const mirror = stack.use(
    createMirror({
      api,
      path: records,
      selector: cluster.selector,
      ledger: name,
      clock,
      onSilence: (why) =>
        emit({
          type: 'LedgerRead',
          result: why === undefined ? 'read' : 'failed',
          durationMs: 0,
          message: why,
        }),
      onUnreadable: (error) =>
        emit({ type: 'LedgerRead', result: 'failed', durationMs: 0, message: error.message }),
    }),
  )
  const found = await readLedgerSecret(api, secrets, name)
  await readRecords(mirror, shown)
  if (found === undefined) assertMayStart(mirror, shown, options)
  const secret = found ?? (await createLedgerSecret(api, secrets, name))
  if (secret.hasRecords() && isEmpty(mirror)) throw recordsGone(shown, name)
  const bound = () => ({ platform: secret.platform(), profile: secret.profile() })
  const hasRecords = () => [...mirror.all()].some(({ kept }) => kept.body !== undefined)
  if (hasRecords()) assertBinding(shown, bound(), options)

  let activity: Activity | undefined
  const lease = stack.use(
    createKubernetesLease({
      api: leaseApi,
      isNew: () => isEmpty(mirror),
      path: cluster.leases,
      name,
      holder: `${hostname()}_${options.processId}`,
      durationMs: leaseMs,
      clock,
      annotations: () => ({
        ...(activity && { [`${GROUP}/activity`]: JSON.stringify(activity) }),
        ...(activity?.url !== undefined && { [`${GROUP}/url`]: activity.url }),
      }),
      onRenewal: (failed) =>
        emit({
          type: 'LeaseRenewed',
          result: failed === undefined ? 'renewed' : 'failed',
          message: failed,
        }),
    }),
  )
  let marking: Promise<void> | undefined
  async function mark(): Promise<void> {
    await secret.change({ hasRecords: 'true' }).finally(() => {
      marking = undefined
    })
  }
  const ledger = createKubernetesLedger({
    api,
    path: records,
    name,
    mirror,
    hashKey: secret.hashKey,
    isOwner: mode === 'owner',
    clock,
    emit,
    activity: {
      note: (next) => {
        activity = next
      },
      async read() {
        const seen = await lease.read().catch((error: unknown) => {
          throw asLedgerError(error)
        })
        const text = annotationIn(seen?.object, `${GROUP}/activity`)
        return { last: decodeActivity(text), isOwned: seen !== undefined && seen.holder !== '' }
      },
    },
    async beforeFirst() {
      if (!secret.hasRecords()) await (marking ??= mark())
    },
  })
  if (mode === 'owner') mirror.follow()
  stack.use(ledger)
  const resources = stack.move()
  /** Whatever the process before it may still send was written before this. @throws {ClusterError} */
  async function begin(): Promise<void> {
    await mirror.relist()
    await bindTo(secret, hasRecords(), shown, options)
  }

  const leadership = createTakeover({ lease, readAll: begin, clock, emit })
  return {
    ledger: Object.assign(ledger, { [Symbol.asyncDispose]: () => resources.disposeAsync() }),
    leadership,
    notes: {
      read: (note) => secret.read(note),
      write: (note, text) => secret.change({ [note]: text }),
    },
  }
}

/**
 * Ends the binding of a ledger to the platform it was used with.
 * @returns what it was bound to
 * @throws {LedgerError}
 */
export async function unbindKubernetesLedger({
  env,
  place,
  clock,
}: Pick<KubernetesLedgerOptions, 'env' | 'place' | 'clock'>): Promise<string | undefined> {
  await using cluster = await openCluster({ env, place, clock })
  const secret = await readLedgerSecret(cluster.api, cluster.secrets, cluster.name)
  const platform = secret?.platform()
  await secret?.change({ platform: undefined })
  return platform
}

async function readRecords(mirror: Mirror, shown: string): Promise<void> {
  try {
    await mirror.relist()
  } catch (error) {
    if (!(error instanceof ClusterError) || error.status !== 404) throw asLedgerError(error)
    throw new LedgerError(
      'missing',
      `the cluster has no PipewrightRecords, in which the ledger ${shown} would be kept: its CustomResourceDefinition is not there. ` +
        'The chart brings it; "kubectl get crd pipewrightrecords.pipewright.dev" shows it.',
      { cause: error },
    )
  }
}

function isEmpty(mirror: Mirror): boolean {
  return [...mirror.all()].length === 0
}

/** There is no Secret. */
function assertMayStart(mirror: Mirror, shown: string, { init, mode }: KubernetesLedgerOptions): void {
  if (!isEmpty(mirror))
    throw new LedgerError(
      'missing',
      `the ledger ${shown} has records, and its Secret is gone: without it nobody can tell which secrets they were made with. ` +
        'Restore the Secret from a backup.',
    )
  if (mode === 'reader')
    throw new LedgerError(
      'missing',
      `there is no ledger ${shown}. Nothing was reconciled with it yet, or --ledger should name another one.`,
    )
  if (init === 'never')
    throw new LedgerError(
      'missing',
      `there is no ledger ${shown}. This would have been a first run, which --ledger-init=never forbids: see that --ledger names the ` +
        'right one. If it was lost, restore its Secret and its records from a backup. If this is indeed the first run, use --ledger-init=auto once.',
    )
}

function recordsGone(shown: string, name: string): LedgerError {
  return new LedgerError(
    'missing',
    `the ledger ${shown} had records, and has none: somebody has deleted them, with their CustomResourceDefinition perhaps. Restore ` +
      `them from a backup. If they are not needed any more, delete the Secret ${name} too: then this is a first run.`,
  )
}

/** The first process that acts binds the ledger to what it works with. */
async function bindTo(
  secret: LedgerSecret,
  hasRecords: boolean,
  shown: string,
  { platform, profile }: Binding,
): Promise<void> {
  // As it is now: another process may have bound it since it was opened.
  await secret.read('platform')
  const bound = { platform: secret.platform(), profile: secret.profile() }
  if (hasRecords) assertBinding(shown, bound, { platform, profile })
  const wanted = {
    platform: platform ?? bound.platform,
    profile: profile === undefined ? bound.profile : keptProfile(profile),
  }
  if (wanted.platform !== bound.platform || wanted.profile !== bound.profile) await secret.change(wanted)
}
