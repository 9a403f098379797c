import { CREATE_FAILPOINTS, type CreateFailpoint } from '../../../src/contract/failpoint.ts'
import type { Random } from '../../torture/random.ts'

/*
 * The matrix of two processes of which one acts: that one stands still at a failpoint on its way to a create, some trouble comes over it
 * there, and everything goes on.
 */

export const TROUBLES = [
  'kill -9',
  'frozen for three leases',
  'cut off from the API',
  'silence between it and the API',
  'cut off from the platform',
  'silence between it and the platform',
  'the API server killed, and back',
  'SIGTERM',
  'both killed, and started again',
  'frozen, its clock an hour ahead',
  'frozen, its clock an hour behind',
  'frozen, its clocks twice as fast',
  'frozen, the clocks of the other twice as fast',
] as const

export type Trouble = (typeof TROUBLES)[number]

/** What becomes of the create: `lost`: it is done, and nobody hears. `cut`: it is not done, and nobody hears. */
export const REPLIES = ['answered', 'lost', 'cut'] as const

export type Reply = (typeof REPLIES)[number]

/** Where it stands still, and what becomes of its create. */
export interface Place {
  readonly at: CreateFailpoint
  readonly reply: Reply
}

export interface PodCell extends Place {
  readonly trouble: Trouble
}

const PLACES: readonly Place[] = CREATE_FAILPOINTS.flatMap((at) => REPLIES.map((reply) => ({ at, reply })))

const OF_A_REPLY: readonly CreateFailpoint[] = [
  'after-reply-head',
  'after-reply-body',
  'before-id',
  'after-id',
]

/** Whether a create of which this becomes comes past the failpoint at all. */
function isReached({ at, reply }: Place): boolean {
  return reply === 'answered' || !OF_A_REPLY.includes(at)
}

/** No cell is there: nothing stands still. */
export const NEVER_REACHED: readonly Place[] = PLACES.filter((place) => !isReached(place))

export const CELLS: readonly PodCell[] = TROUBLES.flatMap((trouble) =>
  PLACES.filter(isReached).map((place) => ({ ...place, trouble })),
)

/** As few cells as hold each trouble, each failpoint and each reply; which, is chance. */
export function sampleOf(random: Random): readonly PodCell[] {
  const failpoints = shuffled(CREATE_FAILPOINTS, random)
  const troubles = shuffled(TROUBLES, random)
  let lacking = shuffled(REPLIES, random)
  return troubles.map((trouble, nth) => {
    const at = failpoints[nth % failpoints.length] ?? 'before-intent' // there are some
    const possible = REPLIES.filter((reply) => isReached({ at, reply }))
    const reply = lacking.find((one) => possible.includes(one)) ?? random.pick(possible)
    lacking = lacking.filter((one) => one !== reply)
    return { at, reply, trouble }
  })
}

function shuffled<T>(items: readonly T[], random: Random): readonly T[] {
  return items
    .map((item) => [random.next(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
}
