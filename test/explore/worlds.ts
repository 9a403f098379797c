import type { Profile } from '../../src/kinds/profile.ts'
import type { Mounted } from '../support/mounted-secrets.ts'
import { model, NONE } from './begin.ts'
import { CHANGING } from './changing-profile.ts'
import { CHANGING_WORLDS } from './changing-worlds.ts'
import type { ChangeReply } from './changing-platform.ts'
import { MINUTE, SECOND, type Model } from './model.ts'
import { POD_WORLDS } from './pod-worlds.ts'
import type { RemoveReply } from './change-requests.ts'
import { REMOVING_WORLDS } from './removing-worlds.ts'

/** How much time passes at once. */
export const WAITS = {
  '8 min': 8 * MINUTE,
  '5 s': 5 * SECOND,
  '61 s': 61 * SECOND,
  '3 min': 3 * MINUTE,
  '16 min': 16 * MINUTE,
  '61 min': 61 * MINUTE,
} as const
export type Wait = keyof typeof WAITS

/** What may become of a create that arrives, or does not. */
export const REPLIES = [
  'created',
  'refused',
  'refused after the work',
  'lost',
  'lost after the work',
  'late',
  'never shown',
  "another's id",
  'throttled',
  'cut, with its id',
  'dies, lost',
  'dies, worked',
  'dies, late',
] as const
export type ReplyKind = (typeof REPLIES)[number]

export type EditKind =
  | 'topics'
  | 'suspend'
  | 'remove'
  | 'rename'
  | 'rename with its name'
  | 'copy'
  | 'service'
  | 'flaw'
  | 'password'
  | 'lock'
  | 'lock of all'
  | 'break the lock'
  | 'origins'
  | 'endpoint'
  | 'manifest'
  | 'depends'
  | 'on missing'
  | 'unmount'
  | 'brokers'
  | 'replicas'
  | 'table'
  | 'tables'
  | 'pause'
  | 'correct'
  | 'ensure'

export type WordKind =
  'adopt' | 'adopt in Git' | 'retry' | 'retry in Git' | 'force' | 'recreate' | 'recreate in Git' | 'forget'

export type FaultKind =
  | 'permission'
  | 'hides'
  | 'gateway'
  | 'deletes'
  | 'restart'
  | 'disk'
  | 'copies'
  | 'restores'
  | 'idle'
  | 'reads'
  | 'changes'
  | 'clock'
  | 'second daemon'
  | 'console edits'
  | 'console renames'
  | 'console rests'
  | 'console makes'
  | 'stale'
  | 'list lags'
  | 'list fails'
  | 'listed losses'
  | 'api'
  | 'stops'

/** A small world: what there is at first, and what may happen in it. */
export interface World {
  readonly name: string
  readonly about: string
  readonly begin: () => Model
  /** Whether pipes are made, seen and a while old when the story begins. */
  readonly isSettled: boolean
  readonly waits: readonly Wait[]
  readonly faults: readonly FaultKind[]
  readonly edits: readonly EditKind[]
  readonly words: readonly WordKind[]
  readonly replies: readonly ReplyKind[]
  /** Whether the process may be killed at any write, at the POST, and between. */
  readonly crashes: boolean
  /** Whether the process may stand still right before its POST. */
  readonly standsStill: boolean
  /** Whether two processes share its ledger, of which one acts. Waits of hours, and of a person, are not in it. */
  readonly isShared?: boolean
  /** Whether its two pipes are alike: then the first fault that hits one of them hits the first. */
  readonly twins?: boolean
  /** Steps that may happen while a request waits. */
  readonly meanwhile: number
  /** Faults, edits and words in one story, in CI: as many as the protections need that are removed, or 1. At night there are more. */
  readonly depth: number
  /** Whether one fault is too many for `npm test`, and for a comparison with secrets. */
  readonly isLarge?: boolean
  /** Of the service; one that lists and changes nothing when absent. */
  readonly profile?: Profile
  /** What may become of a change, besides that it is done. */
  readonly changeReplies?: readonly ChangeReply[]
  /** What may become of a deletion, besides that it is done. */
  readonly removeReplies?: readonly RemoveReply[]
  /** Secrets that are mounted in place of the usual ones. */
  readonly mounted?: Mounted
}

const EVERY_REPLY: readonly ReplyKind[] = [
  'refused',
  'lost',
  'lost after the work',
  'late',
  'never shown',
  'dies, lost',
  'dies, worked',
  'dies, late',
]

export const WORLDS: readonly World[] = [
  {
    ...NONE,
    name: 'one',
    about: 'one pipe that is new: every reply, a crash at every write, and a person at the shell',
    begin: () => model(['a']),
    waits: ['3 min', '16 min'],
    faults: ['permission', 'deletes'],
    words: ['adopt', 'retry'],
    replies: EVERY_REPLY,
    crashes: true,
    meanwhile: 1,
    depth: 2,
  },
  {
    ...NONE,
    name: 'missing',
    about: 'one pipe that is there: permissions, lags, gateways and deletions',
    begin: () => model(['a']),
    isSettled: true,
    waits: ['3 min', '61 min'],
    faults: ['permission', 'hides', 'gateway', 'deletes', 'restart'],
    replies: ['refused', 'never shown', 'lost', 'lost after the work'],
    meanwhile: 1,
    depth: 2,
  },
  {
    ...NONE,
    name: 'two',
    about: 'two pipes of one service, hidden and deleted one by one, behind a gateway',
    begin: () => model(['a', 'b']),
    isSettled: true,
    twins: true,
    waits: ['3 min'],
    faults: ['hides', 'gateway', 'deletes'],
    replies: ['refused', "another's id"],
    depth: 2,
  },
  {
    ...NONE,
    name: 'allowed',
    about: 'two pipes of one service, and a permission that comes and goes',
    begin: () => model(['a', 'b']),
    isSettled: true,
    twins: true,
    waits: ['3 min'],
    faults: ['permission', 'hides'],
    meanwhile: 1,
    depth: 1,
    isLarge: true,
  },
  {
    ...NONE,
    name: 'pair',
    about: 'two services on one API key, with a pipe each',
    begin: () => model(['a', 'b'], { b: 'two' }),
    isSettled: true,
    twins: true,
    waits: ['3 min'],
    faults: ['permission', 'hides', 'deletes', 'restart'],
    replies: ['refused'],
    meanwhile: 1,
    depth: 1,
    isLarge: true,
  },
  {
    ...NONE,
    name: 'waiting',
    about: 'a new pipe whose create waits: Git, Locks, services and secrets change meanwhile',
    begin: () => model(['a']),
    waits: ['3 min'],
    edits: ['topics', 'suspend', 'remove', 'service', 'flaw', 'password', 'lock'],
    replies: ['refused', 'lost after the work'],
    meanwhile: 2,
    depth: 2,
  },
  {
    ...NONE,
    name: 'replacing',
    about: 'a pipe that is gone or hidden, and whose replacement waits while Git changes',
    begin: () => model(['a']),
    isSettled: true,
    waits: ['3 min'],
    faults: ['permission', 'hides', 'deletes'],
    edits: ['suspend', 'remove', 'service', 'flaw', 'lock'],
    replies: ['refused', 'lost after the work'],
    meanwhile: 1,
    depth: 1,
  },
  {
    ...NONE,
    name: 'endpoint',
    about: 'a query endpoint whose upsert waits, and is tried again',
    begin: () => ({ ...model([]), endpoint: { isPresent: true, isSuspended: false, origins: '*' } }),
    waits: ['61 min'],
    edits: ['origins', 'endpoint', 'service', 'flaw'],
    crashes: true,
    meanwhile: 2,
    depth: 3,
  },
  {
    ...NONE,
    name: 'renames',
    about: 'renames, copies and manifests that come and go',
    begin: () => model(['a']),
    isSettled: true,
    waits: ['3 min'],
    faults: ['deletes'],
    edits: ['rename', 'rename with its name', 'copy', 'remove'],
    words: ['adopt', 'retry'],
    replies: ['lost after the work', 'lost'],
    meanwhile: 1,
    depth: 1,
  },
  {
    ...NONE,
    name: 'renamings',
    about: 'renames and copies in a row, without what makes each of them unsure',
    begin: () => model(['a']),
    isSettled: true,
    waits: ['3 min'],
    edits: ['rename with its name', 'copy', 'remove'],
    depth: 3,
  },
  {
    ...NONE,
    name: 'words',
    about: 'what persons say, too early and in time, at the shell and in Git',
    begin: () => model(['a']),
    waits: ['3 min', '16 min'],
    faults: ['hides', 'deletes'],
    edits: ['remove'],
    words: [
      'adopt',
      'adopt in Git',
      'retry',
      'retry in Git',
      'force',
      'recreate',
      'recreate in Git',
      'forget',
    ],
    replies: ['lost', 'lost after the work', 'late', 'dies, late'],
    meanwhile: 1,
    depth: 2,
  },
  {
    ...NONE,
    name: 'said',
    about: 'a pipe that is hidden and shown, and a person who says that it is gone',
    begin: () => model(['a']),
    isSettled: true,
    waits: ['3 min'],
    faults: ['hides', 'restart'],
    words: ['recreate', 'recreate in Git'],
    depth: 3,
  },
  {
    ...NONE,
    name: 'frozen',
    about: 'a process that stands still right before its POST, and a person who says that it created nothing',
    begin: () => model(['a']),
    waits: ['3 min', '16 min'],
    edits: ['remove'],
    words: ['adopt', 'retry', 'retry in Git'],
    replies: ['lost', 'lost after the work', 'late', 'dies, worked', 'dies, late'],
    standsStill: true,
    meanwhile: 2,
    depth: 2,
  },
  {
    ...NONE,
    name: 'ledger',
    about: 'a disk that is full at any moment, and crashes',
    begin: () => model(['a']),
    waits: ['3 min', '16 min'],
    faults: ['disk', 'deletes'],
    edits: ['remove'],
    words: ['adopt', 'retry'],
    replies: ['refused', 'lost after the work'],
    crashes: true,
    meanwhile: 1,
    depth: 2,
  },
  {
    ...NONE,
    name: 'copies',
    about: 'a ledger that is lost, or put back as it was, when a Lock names the pipes that there are',
    begin: () => model(['a']),
    isSettled: true,
    waits: ['3 min'],
    faults: ['permission', 'hides', 'deletes', 'copies'],
    edits: ['lock of all', 'break the lock'],
    replies: ['refused', 'lost after the work'],
    meanwhile: 1,
    depth: 1,
    isLarge: true,
  },
  ...CHANGING_WORLDS,
  ...REMOVING_WORLDS,
  ...POD_WORLDS,
]

const LONG = {
  ...NONE,
  waits: ['61 s', '3 min', '16 min', '61 min'],
  replies: [...EVERY_REPLY, "another's id", 'throttled', 'cut, with its id'],
  crashes: true,
  standsStill: true,
  meanwhile: 3,
  depth: 0,
} as const

/** Worlds in which so much may happen that only some stories are told, at random. */
export const LARGE_WORLDS: readonly World[] = [
  {
    ...LONG,
    isSettled: true,
    name: 'large',
    about: 'five pipes in two services, a query endpoint, and all that can befall them',
    begin: () => ({
      ...model(['a', 'b', 'c', 'd', 'e'], { d: 'two', e: 'two' }),
      endpoint: { isPresent: true, isSuspended: false, origins: '*' },
    }),
    faults: [
      'permission',
      'hides',
      'gateway',
      'deletes',
      'restart',
      'disk',
      'idle',
      'reads',
      'changes',
      'clock',
    ],
    edits: [
      'suspend',
      'remove',
      'rename',
      'rename with its name',
      'copy',
      'flaw',
      'password',
      'lock',
      'lock of all',
      'origins',
      'endpoint',
      'manifest',
      'depends',
      'on missing',
      'unmount',
      'break the lock',
    ],
    words: ['adopt', 'adopt in Git', 'retry', 'retry in Git', 'recreate', 'recreate in Git', 'forget'],
  },
  {
    ...LONG,
    isSettled: true,
    name: 'console',
    about: 'three pipes on a service with a list, renamed and edited in Git and in the console',
    begin: () => model(['a', 'b', 'c']),
    profile: CHANGING,
    faults: ['console renames', 'deletes', 'list fails', 'restart'],
    edits: ['rename', 'rename with its name', 'copy', 'replicas', 'suspend', 'remove'],
    words: ['adopt', 'retry', 'forget'],
    standsStill: false,
  },
  {
    ...LONG,
    name: 'daemons',
    about: 'three pipes, and two daemons on one ledger, which a lock keeps apart in life',
    begin: () => model(['a', 'b', 'c']),
    faults: ['permission', 'hides', 'deletes', 'restart', 'disk', 'reads', 'second daemon'],
    edits: ['topics', 'suspend', 'remove', 'service', 'password', 'manifest'],
    words: ['adopt', 'retry', 'retry in Git', 'recreate'],
  },
]
