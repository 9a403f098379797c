import { model, NONE } from './begin.ts'
import { CHANGING } from './changing-profile.ts'
import { CHANGE_REPLIES } from './changing-platform.ts'
import type { Model } from './model.ts'
import type { World } from './worlds.ts'

const CHANGES = { ...NONE, profile: CHANGING, changeReplies: CHANGE_REPLIES } as const

/** Worlds with a service that lists, changes, starts and stops pipes. */
export const CHANGING_WORLDS: readonly World[] = [
  {
    ...CHANGES,
    name: 'listed',
    about:
      'one pipe that is new, on a service with a list: every reply, crashes, and pipes that persons make',
    begin: () => model(['a']),
    waits: ['3 min'],
    faults: ['console makes', 'list lags', 'list fails'],
    replies: ['lost', 'lost after the work', 'dies, worked'],
    meanwhile: 2,
    depth: 2,
  },
  {
    ...CHANGES,
    name: 'warm',
    about: 'one new pipe, a list of seconds ago, and creates that are denied and carried out',
    begin: () => model(['a']),
    waits: ['5 s'],
    replies: ['refused', 'refused after the work'],
    depth: 2,
  },
  {
    ...CHANGES,
    name: 'rotating',
    about: 'a pipe that is new, and whose secret is rotated before it is known what became of a request',
    begin: () => model(['a']),
    waits: ['3 min'],
    faults: ['list lags'],
    edits: ['password'],
    replies: ['lost', 'lost after the work', 'dies, worked'],
    crashes: true,
    meanwhile: 1,
    depth: 2,
  },
  {
    ...CHANGES,
    name: 'relisted',
    about: 'two pipes whose ledger is lost, and made anew from a list',
    begin: () => model(['a', 'b']),
    isSettled: true,
    waits: ['3 min'],
    faults: ['listed losses', 'deletes', 'console makes', 'list lags'],
    replies: ['lost after the work'],
    depth: 1,
    isLarge: true,
  },
  {
    ...CHANGES,
    name: 'renamed',
    about:
      'a pipe that is renamed in Git and in the console, and edited in the same commit, on a service with a list',
    begin: () => model(['a']),
    isSettled: true,
    waits: ['3 min'],
    faults: ['console renames', 'listed losses'],
    edits: ['rename', 'rename with its name', 'replicas', 'remove'],
    changeReplies: [],
    replies: ['lost after the work'],
    depth: 3,
  },
  {
    ...CHANGES,
    name: 'changing',
    about: 'a pipe whose manifest is edited: changes that fail, that do nothing, and crashes',
    begin: () => model(['a']),
    isSettled: true,
    waits: ['3 min', '61 min'],
    faults: ['stale'],
    edits: ['topics', 'replicas', 'table', 'password', 'suspend', 'remove'],
    crashes: true,
    meanwhile: 1,
    depth: 2,
  },
  {
    ...CHANGES,
    name: 'resting',
    about: 'a pipe that is changed at rest: who stopped it, and who starts it again',
    begin: () => model(['a']),
    isSettled: true,
    waits: ['3 min', '61 min'],
    faults: ['console rests', 'stale'],
    edits: ['brokers', 'password', 'manifest', 'remove', 'suspend'],
    crashes: true,
    meanwhile: 1,
    depth: 2,
  },
  {
    ...CHANGES,
    name: 'tables',
    about: 'a pipe whose tables are taken out, put back and copied in another way while they are changed',
    begin: () => withTables(model(['a'])),
    isSettled: true,
    waits: ['3 min', '61 min'],
    faults: ['stale'],
    edits: ['tables'],
    crashes: true,
    meanwhile: 1,
    depth: 2,
  },
  {
    ...CHANGES,
    name: 'paused',
    about: 'a pipe that is paused, in Git and in the console, while it is edited',
    begin: () => model(['a']),
    isSettled: true,
    waits: ['3 min', '61 min'],
    faults: ['console rests'],
    edits: ['pause', 'brokers', 'topics'],
    changeReplies: ['lost', 'fails for good', 'refused'],
    meanwhile: 1,
    depth: 2,
  },
  {
    ...CHANGES,
    name: 'correcting',
    about: 'a pipe that is changed in the console and put right, or not, on a service with a list',
    begin: () => correcting(model(['a'])),
    isSettled: true,
    waits: ['61 s', '61 min'],
    faults: ['console edits', 'list lags', 'stale', 'restart'],
    edits: ['topics', 'correct'],
    changeReplies: ['not applied', 'lost'],
    depth: 2,
  },
]

function withTables(all: Model): Model {
  for (const wish of all.wishes)
    wish.tables = [
      { name: 'first', how: 'plain' },
      { name: 'second', how: 'plain' },
    ]
  return all
}

function correcting(all: Model): Model {
  for (const wish of all.wishes.slice(0, 1)) wish.policy = { onDrift: 'correct' }
  return all
}
