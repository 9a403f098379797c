import { randomUUID } from 'node:crypto'
import { stringify } from 'yaml'
import { systemClock } from '../../src/daemon/system-clock.ts'
import type { Clock } from '../../src/lib/clock.ts'
import {
  openKubernetesLedger,
  type KubernetesLedgerOptions,
} from '../../src/ledger/kubernetes/open-kubernetes-ledger.ts'
import type { OpenedLedger } from '../../src/contract/ledger.ts'
import { ignore } from '../ledger/samples.ts'
import type { Workspace } from '../support/workspace.ts'

/** An API of Kubernetes, and what it is asked with. */
export interface Place {
  readonly url: string
  readonly token: string
  /** File of the authority that signed its certificate. */
  readonly ca?: string
}

/** Opens a ledger as a process of its own would. */
export function openAt(
  { url, token, ca }: Place,
  workspace: Workspace,
  options: Partial<KubernetesLedgerOptions> = {},
): Promise<OpenedLedger> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [{ name: 'here', cluster: { server: url, 'certificate-authority': ca } }],
    users: [{ name: 'me', user: { token } }],
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'me', namespace: 'default' } }],
  }
  workspace.write('kubeconfig', stringify(config))
  return openKubernetesLedger({
    place: 'ledger',
    mode: 'owner',
    init: 'auto',
    env: { KUBECONFIG: workspace.path('kubeconfig') },
    processId: randomUUID(),
    leaseMs: 1_000,
    clock: stoppedClock,
    emit: ignore,
    ...options,
  })
}

/** Stands still for whoever measures, and waits as ever. */
const stoppedClock: Clock = { ...systemClock, now: () => 1_800_000_000_000, monotonic: () => 5 }
