import { lateUpsert, olderCheckout, sleeper } from '../support/pod-stories.ts'
import type { Patch } from './checkout.ts'
import type { Check, Mutation } from './mutation.ts'

/* What protects a platform from two processes of which one acts. */

function sleepsAt(failpoint: string): Check {
  return {
    name: `a process stands still at ${failpoint} while another one takes over`,
    run: ({ main }) => sleeper(failpoint, { main }),
  }
}

function wakesDeafAt(failpoint: string): Check {
  return {
    name: `a process stands still at ${failpoint}, another one takes over, and the API does not answer when it wakes up`,
    run: ({ main }) => sleeper(failpoint, { main, wakesDeaf: true }),
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

/** However long a process stands still, the age of its intent is not what keeps its request back. */
const AT_ANY_AGE: Patch = { from: 'const SEND_WITHIN_MS = 5_000', to: 'const SEND_WITHIN_MS = 600_000' }

export const OF_TWO_PODS: readonly Mutation[] = [
  {
    protection: 'a renewal of the Lease before each create',
    patches: [AT_ANY_AGE, { from: 'return (await confirm?.()) ?? Infinity', to: 'return Infinity' }],
    checks: [wakesDeafAt('after-intent')],
  },
  {
    protection: 'the first byte goes out while nobody can have taken over',
    patches: [AT_ANY_AGE, { from: 'return begunAt + durationMs', to: 'return Infinity' }],
    checks: [wakesDeafAt('after-fence')],
  },
  {
    protection: 'the renewal belongs to one takeover',
    patches: [
      AT_ANY_AGE,
      {
        from: 'if (lease === undefined || lease.holder !== holder || lease.epoch !== epoch) {\n          end(',
        to: 'if (lease === undefined) {\n          end(',
      },
      {
        from: 'if (lease === undefined || lease.holder !== holder || lease.epoch !== epoch)\n        end(',
        to: 'if (lease === undefined)\n        end(',
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
