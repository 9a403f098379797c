import { lateUpsert, olderCheckout, sleeper } from '../support/pod-stories.ts'
import type { Check, Mutation } from './mutation.ts'

/* What protects a platform from two processes of which one acts. */

function sleepsAt(failpoint: string): Check {
  return {
    name: `a process stands still at ${failpoint} while another one takes over`,
    run: ({ main }) => sleeper(failpoint, { main }),
  }
}

const LATE: Check = {
  name: 'a late upsert of the process before',
  run: ({ main }) => lateUpsert({ main }),
}

const OLDER: Check = {
  name: 'a process takes over whose checkout is two commits behind',
  run: ({ main }) => olderCheckout({ main }),
}

export const OF_TWO_PODS: readonly Mutation[] = [
  {
    protection: 'a renewal of the Lease before each create',
    patches: [{ from: 'return (await confirm?.()) ?? Infinity', to: 'return Infinity' }],
    checks: [sleepsAt('after-intent')],
  },
  {
    protection: 'the first byte goes out while nobody can have taken over',
    patches: [{ from: 'return begunAt + durationMs', to: 'return Infinity' }],
    checks: [sleepsAt('after-fence')],
  },
  {
    protection: 'the renewal belongs to one takeover',
    patches: [
      {
        from: 'if (lease === undefined || lease.holder !== holder || lease.epoch !== epoch) {\n          end(',
        to: 'if (lease === undefined) {\n          end(',
      },
    ],
    checks: [sleepsAt('after-intent')],
  },
  {
    protection: 'endpoints are applied once more after a takeover',
    patches: [
      {
        from: 'if (parts.lateForMs !== undefined) clock.after(',
        to: 'if (parts.lateForMs === -1) clock.after(',
      },
    ],
    checks: [LATE],
  },
  {
    protection: 'another checkout than the one that was acted on waits',
    patches: [{ from: 'if (waiting === undefined) return', to: 'if (waiting !== null) return' }],
    checks: [OLDER],
  },
]
