import type { FailpointAction } from '../../support/failpoints.ts'
import { CREATE_FAILPOINTS, type CreateFailpoint } from '../../../src/contract/failpoint.ts'
import type { FaultInput } from '../../../src/sandbox/fault-types.ts'

/** How the platform replies to the create, and whether it did the work. */
interface ReplyKind {
  /** `undefined`: as it should. */
  readonly fault: FaultInput | undefined
  readonly worked: 'done' | 'not done'
  /** What the reply, by itself, says about the work. */
  readonly tells:
    | 'the id'
    | 'the id, to be read'
    /** Whoever answers this did not do the work. */
    | 'that it was refused'
    /** The same, if it is the platform who answers, which only its body shows. */
    | 'that it was refused, by its body'
    | 'nothing'
  /** How much of a reply arrives. */
  readonly arrives: 'nothing' | 'the head and a part' | 'all'
}

export const REPLIES = {
  whole: { fault: undefined, worked: 'done', tells: 'the id', arrives: 'all' },
  'cut after the work': {
    fault: { type: 'cut-after' },
    worked: 'done',
    tells: 'nothing',
    arrives: 'nothing',
  },
  'cut before it': {
    fault: { type: 'cut-before' },
    worked: 'not done',
    tells: 'nothing',
    arrives: 'nothing',
  },
  reset: { fault: { type: 'reset' }, worked: 'not done', tells: 'nothing', arrives: 'nothing' },
  hang: { fault: { type: 'hang' }, worked: 'not done', tells: 'nothing', arrives: 'nothing' },
  '500 after the work': { fault: { type: 'error-after' }, worked: 'done', tells: 'nothing', arrives: 'all' },
  '200 without an id': { fault: { type: 'no-id' }, worked: 'done', tells: 'nothing', arrives: 'all' },
  'half a body': {
    fault: { type: 'half-body' },
    worked: 'done',
    tells: 'the id, to be read',
    arrives: 'the head and a part',
  },
  'HTML with 502': {
    fault: { type: 'html', status: 502 },
    worked: 'not done',
    tells: 'nothing',
    arrives: 'all',
  },
  'HTML with 200': {
    fault: { type: 'html', status: 200 },
    worked: 'not done',
    tells: 'nothing',
    arrives: 'all',
  },
  '429': {
    fault: { type: 'rate-limit', seconds: 1, header: 'retry-after' },
    worked: 'not done',
    tells: 'that it was refused',
    arrives: 'all',
  },
  '424': {
    fault: { type: 'status', status: 424 },
    worked: 'not done',
    tells: 'that it was refused, by its body',
    arrives: 'all',
  },
} as const satisfies Readonly<Record<string, ReplyKind>>

export type ReplyName = keyof typeof REPLIES

/** The actions of the matrix; `hang` and `pause` are for tests of stopping and of two daemons. */
export type MatrixAction = Exclude<FailpointAction, 'hang' | 'pause'>

/** One cell of the matrix. */
export interface Combination {
  readonly at: CreateFailpoint
  readonly action: MatrixAction
  readonly reply: ReplyName
}

/**
 * The cells of one action; replies that come to the same are one. A failpoint that a create never comes past changes nothing, whatever its
 * action: one action tries that.
 */
export function combinationsOf(action: MatrixAction): readonly Combination[] {
  const replies = Object.keys(REPLIES) as readonly ReplyName[] // the keys of the object above
  return CREATE_FAILPOINTS.flatMap((at) => {
    const cells = replies.map((reply) => ({ at, action, reply }))
    const reached = action === 'throw' ? cells : cells.filter(isReached)
    const kinds = reached.map(kindOf)
    return reached.filter((_, place) => kinds.indexOf(kinds[place] ?? '') === place)
  })
}

/** All of the reply that can make a difference. */
function kindOf({ at, action, reply }: Combination): string {
  const { tells, arrives, worked }: ReplyKind = REPLIES[reply]
  if (action === 'kill' && isBetween(at, 'before-intent', 'after-connect')) return 'never sent'
  // Only what a reply tells reaches the disk.
  return action.startsWith('disk') ? `${tells}, ${arrives}` : `${tells}, ${arrives}, ${worked}`
}

/** Whether a create that is answered like that comes past the failpoint at all. */
export function isReached({ at, reply }: Combination): boolean {
  const { tells }: ReplyKind = REPLIES[reply]
  switch (at) {
    case 'before-intent':
    case 'after-intent':
    case 'after-fence':
    case 'after-connect':
      return true
    case 'before-id':
      return tells === 'the id' || tells === 'the id, to be read'
  }
}

/** Whether `at` lies between two failpoints, both included. */
export function isBetween(at: CreateFailpoint, first: CreateFailpoint, last: CreateFailpoint): boolean {
  const place = CREATE_FAILPOINTS.indexOf(at)
  return place >= CREATE_FAILPOINTS.indexOf(first) && place <= CREATE_FAILPOINTS.indexOf(last)
}
