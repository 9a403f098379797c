import type { Clock } from '../../lib/clock.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { openClusterAccess, type Environment } from './cluster-access.ts'
import { createClusterApi } from './cluster-api.ts'
import { RECORD_API } from './record-object.ts'

export interface ClusterPlace {
  /** The part of `--ledger` after `kubernetes:`. */
  readonly place: string
  readonly env: Environment
  readonly clock: Clock
}

export const TIMEOUT_MS = 10_000
const NAME = /^(?:([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)\/)?([a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?)$/

function placeOf(place: string): { readonly namespace: string | undefined; readonly name: string } {
  const [, namespace, , name] = NAME.exec(place) ?? []
  if (name === undefined)
    throw new LedgerError(
      'io',
      `"kubernetes:${place}" is not the address of a ledger. Use kubernetes:NAME or kubernetes:NAMESPACE/NAME, with lower-case letters, digits and "-".`,
    )
  return { namespace, name }
}

export type Cluster = Awaited<ReturnType<typeof openCluster>>

export async function openCluster({ env, place, clock }: ClusterPlace) {
  const access = await openClusterAccess(env)
  const { namespace = access.namespace, name } = placeOf(place)
  const apiWithin = (timeoutMs: number) =>
    createClusterApi({ access, userAgent: 'pipewright', timeoutMs, clock })
  const api = apiWithin(TIMEOUT_MS)
  return {
    api,
    apiWithin,
    name,
    shown: `kubernetes:${namespace}/${name}`,
    toDelete: `kubectl -n ${namespace} delete`,
    records: `/apis/${RECORD_API}/namespaces/${namespace}/pipewrightrecords`,
    secrets: `/api/v1/namespaces/${namespace}/secrets`,
    leases: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  }
}
