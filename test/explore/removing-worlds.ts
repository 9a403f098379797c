import { model, NONE } from './begin.ts'
import { CHANGING } from './changing-profile.ts'
import { makeByHand } from './changing-steps.ts'
import type { Model, Wish } from './model.ts'
import { noteEdited } from './life.ts'
import { REMOVE_REPLIES } from './change-requests.ts'
import type { World } from './worlds.ts'

const REMOVES = {
  ...NONE,
  profile: CHANGING,
  isSettled: true,
  waits: ['3 min', '16 min'],
  removeReplies: REMOVE_REPLIES,
  crashes: true,
} as const

/** Worlds in which manifests ask to delete their pipes. */
export const REMOVING_WORLDS: readonly World[] = [
  {
    ...REMOVES,
    name: 'removing',
    about: 'a pipe that is to be deleted, or not, and whose manifest goes away and comes back',
    begin: () => model(['a']),
    faults: ['console edits', 'list lags', 'stale'],
    edits: ['remove', 'ensure'],
    replies: ['lost', 'lost after the work'],
    meanwhile: 1,
    depth: 2,
  },
  {
    ...REMOVES,
    name: 'restored',
    about: 'a pipe that is to be deleted, or not, while backups of Git and of the ledger are restored',
    begin: () => model(['a']),
    waits: ['16 min'],
    faults: ['restores'],
    edits: ['remove', 'ensure', 'manifest'],
    crashes: false,
    depth: 1,
  },
  {
    ...REMOVES,
    name: 'replaced',
    about:
      'a pipe that is to be replaced by an edit, or not, while backups of Git and of the ledger are restored',
    begin: () => withPolicy(model(['a']), { onImmutable: 'replace' }),
    waits: ['16 min'],
    faults: ['restores'],
    edits: ['remove', 'table', 'ensure'],
    removeReplies: ['lost'],
    crashes: false,
    depth: 1,
  },
  {
    ...REMOVES,
    name: 'adopted',
    about: 'a pipe that a person made, and whose manifest asks to delete it, or goes away',
    begin: () => adopting(model(['a'])),
    faults: ['list lags'],
    edits: ['remove', 'ensure'],
    depth: 1,
  },
]

function withPolicy(all: Model, policy: Wish['policy']): Model {
  for (const wish of all.wishes) wish.policy = policy
  noteEdited(all)
  return all
}

/** Its manifest names the pipe that there is. */
function adopting(all: Model): Model {
  for (const wish of all.wishes.slice(0, 1)) {
    makeByHand(all, wish, true)
    for (const { id } of all.pipes) {
      wish.policy = { ...wish.policy, adopt: id }
      all.saidPipe.add(id)
    }
  }
  return all
}
