import type { Ledger } from '../../src/contract/ledger.ts'
import type { ClusterApi, KubeObject } from '../../src/ledger/kubernetes/cluster-api.ts'
import { createKubernetesLedger } from '../../src/ledger/kubernetes/kubernetes-ledger.ts'
import { createMirror, type Mirror } from '../../src/ledger/kubernetes/record-mirror.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { clockOf } from './clock.ts'
import { clusterOf } from './cluster.ts'
import { HASH_KEY } from './hashes.ts'
import { LEASES, LEDGER, podsOf, RECORDS } from './pods.ts'
import { forever, type Run } from './run.ts'

/* The ledger in a cluster, as one process works with it: the real mirror, and the real ledger over it. */

/** @param api of records */
export function mirrorOf(api: ClusterApi, clock: Clock): Mirror {
  return createMirror({
    api,
    path: RECORDS,
    ledger: LEDGER,
    clock,
    onSilence: () => undefined,
    onRollback: noRollback,
    onCurrent: async () => undefined,
    onUnreadable(error) {
      throw error
    },
    onIgnored(what) {
      throw new Error(`bug: ${what}`)
    },
  })
}

/** No world rolls the store back to an earlier state. */
export function noRollback(what: string): never {
  throw new Error(`bug: a rollback is noticed: ${what}`)
}

export function ledgerOn(run: Run, api: ClusterApi, mirror: Mirror, clock: Clock): Ledger {
  return createKubernetesLedger({
    api,
    mirror,
    hashKey: HASH_KEY,
    isOwner: true,
    clock,
    emit: () => undefined,
    activity: {
      note: () => undefined,
      read: async () => ({ last: undefined, isOwned: leaseIn(run) !== undefined }),
    },
    noteRecords: async () => undefined,
    rollback: { assertNone: async () => undefined, known: () => undefined },
    lease: { lapsed: () => undefined, failing: () => undefined },
  })
}

/** With which a person's command works. */
export async function shellLedger(run: Run): Promise<Ledger> {
  const clock = clockOf(run.model)
  const api = clusterOf(run, {
    name: 'shell',
    pod: undefined,
    isDead: false,
    isQuiet: true,
    die: forever,
    stand: async () => undefined,
  })
  const mirror = mirrorOf(api, clock)
  await mirror.relist()
  return ledgerOn(run, api, mirror, clock)
}

export function leaseIn(run: Pick<Run, 'model'>): KubeObject | undefined {
  return podsOf(run.model).objects.get(`${LEASES}/${LEDGER}`)
}
