import { model, NONE } from './begin.ts'
import { twoPods } from './pods.ts'
import type { World } from './worlds.ts'

const PODS = { ...NONE, isShared: true, isSettled: true, standsStill: true, meanwhile: 3 } as const

/** Worlds with two processes, of which one acts, and a ledger in a cluster. */
export const POD_WORLDS: readonly World[] = [
  {
    ...PODS,
    name: 'pods',
    about:
      'a pipe that is new, and two processes: each stands still at any point, while another one takes over and a person forces a second attempt',
    begin: () => twoPods(model(['a'])),
    words: ['force', 'adopt'],
    depth: 3,
  },
  {
    ...PODS,
    name: 'pods that differ',
    about: 'a pipe whose manifest is renamed, changed or removed, which one process reads before the other',
    begin: () => twoPods(model(['a'])),
    edits: ['rename', 'topics', 'remove'],
    depth: 2,
  },
  {
    ...PODS,
    name: 'pods and endpoint',
    about: 'a query endpoint, two processes, and an upsert that comes late',
    begin: () => twoPods({ ...model([]), endpoint: { isPresent: true, isSuspended: false, origins: '*' } }),
    edits: ['origins'],
    replies: ['dies, late'],
    depth: 2,
  },
  {
    ...PODS,
    name: 'pods and API',
    about:
      'two processes whose requests of the API of their cluster are lost, there or back, and that are killed or stopped',
    begin: () => twoPods(model(['a'])),
    faults: ['api', 'stops'],
    replies: ['lost after the work', 'dies, worked'],
    crashes: true,
    depth: 2,
  },
]
