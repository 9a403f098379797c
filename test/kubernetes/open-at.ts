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
  at: Place,
  workspace: Workspace,
  options: Partial<KubernetesLedgerOptions> = {},
): Promise<OpenedLedger> {
  return openKubernetesLedger({
    place: 'ledger',
    mode: 'owner',
    init: 'auto',
    env: { KUBECONFIG: writeKubeconfig(at, workspace) },
    processId: randomUUID(),
    leaseMs: 1_000,
    clock: stoppedClock,
    emit: ignore,
    ...options,
  })
}

/** Stands still for whoever measures, and waits as ever. */
const stoppedClock: Clock = { ...systemClock, now: () => 1_800_000_000_000, monotonic: () => 5 }

/** @returns its file */
export function writeKubeconfig(
  { url, token, ca }: Place,
  workspace: Workspace,
  file = 'kubeconfig',
): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [{ name: 'here', cluster: { server: url, 'certificate-authority': ca } }],
    users: [{ name: 'me', user: { token } }],
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'me', namespace: 'default' } }],
  }
  workspace.write(file, stringify(config))
  return workspace.path(file)
}

/** Why nothing may be created now. */
export async function refusal({ ledger }: Pick<OpenedLedger, 'ledger'>): Promise<string | undefined> {
  try {
    await ledger.assertCanSettle()
    return undefined
  } catch (error) {
    return String(error)
  }
}
