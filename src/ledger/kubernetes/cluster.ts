import type { Clock } from '../../lib/clock.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { openClusterAccess, type Environment } from './cluster-access.ts'
import { createClusterApi, type ClusterApi } from './cluster-api.ts'
import { API_VERSION, LEDGER_LABEL } from './record-object.ts'

/** Which ledger, and how it is reached. */
export interface ClusterPlace {
  /** What follows `kubernetes:` in `--ledger`. */
  readonly place: string
  readonly env: Environment
  readonly clock: Clock
}

/** Until a reply has come to its end: ms. */
export const TIMEOUT_MS = 10_000
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
export async function openCluster({ env, place, clock }: ClusterPlace): Promise<Cluster> {
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
