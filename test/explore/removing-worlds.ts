import { model, NONE } from './begin.ts'
import { CHANGING } from './changing-profile.ts'
import { makeByHand } from './changing-steps.ts'
import type { Model } from './model.ts'
import { REMOVE_REPLIES } from './removing-platform.ts'
import type { World } from './worlds.ts'

const REMOVES = {
  ...NONE,
  profile: CHANGING,
  isSettled: true,
  waits: ['3 min', '16 min'],
  removeReplies: REMOVE_REPLIES,
  crashes: true,
} as const

/** Worlds in which manifests go away whose pipes are to be deleted then. */
export const REMOVING_WORLDS: readonly World[] = [
  {
    ...REMOVES,
    name: 'removing',
    about: 'a pipe whose manifest goes away and comes back, and which is deleted after a while',
    begin: () => removing(model(['a'])),
    faults: ['console edits', 'list lags', 'stale'],
    edits: ['remove', 'on remove'],
    replies: ['lost', 'lost after the work'],
    meanwhile: 1,
    depth: 2,
  },
  {
    ...REMOVES,
    name: 'adopted',
    about: 'a pipe that a person made, and whose manifest goes away',
    begin: () => adopting(removing(model(['a']))),
    faults: ['list lags'],
    edits: ['remove'],
    depth: 2,
  },
]

function removing(all: Model): Model {
  for (const wish of all.wishes) wish.policy = { onRemove: 'delete' }
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
