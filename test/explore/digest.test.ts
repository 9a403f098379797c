import { expect, test } from 'vitest'
import { createRandom } from '../torture/random.ts'
import { otherScripts } from './chooser.ts'
import { digestOf } from './digest.ts'
import type { Model } from './model.ts'
import { play, type Move, type Played } from './play.ts'
import { settledModel } from './settled.ts'
import { stepsOf } from './steps.ts'
import { WORLDS, type World } from './worlds.ts'

/*
 * The explorer goes on from one of all situations with the same digest. So whatever can happen in one of them has to happen
 * in the others too, and end alike. Random walks look for two that are not the same, and have the same digest.
 */

const COMPARISONS = 20
const LONGEST_WALK = 30
const WALKS = 12

/** Everything that can come next, with at most one fault. */
async function successors(
  model: Model,
  world: World,
): Promise<readonly (Played & { readonly move: Move })[]> {
  const all: (Played & { readonly move: Move })[] = []
  for (const step of stepsOf(model, world)) {
    const scripts: (readonly number[])[] = [[]]
    for (let script = scripts.pop(); script !== undefined; script = scripts.pop()) {
      const move = { step: step.name, script }
      const played = await play(model, world, move)
      all.push({ ...played, move })
      scripts.push(...otherScripts({ made: played.choices }, script.length, 1))
    }
  }
  return all
}

function ends(all: readonly Played[]): readonly string[] {
  // One may write words, and so have one more place to die at, where the other has them already.
  const each = all.map((played) => `${played.cost} ${played.broken.length} ${digestOf(played.model)}`)
  return [...new Set(each)].toSorted()
}

test.each(WORLDS.map((world) => [world.name, world] as const))(
  'situations of the world "%s" with the same digest go on alike',
  async (name, world) => {
    const random = createRandom(`digest of ${name}`)
    const known = new Map<string, Model>()
    let compared = 0
    for (let walk = 0; walk < WALKS && compared < COMPARISONS; walk += 1) {
      let model = await settledModel(world)
      for (let step = 0; step < LONGEST_WALK && compared < COMPARISONS; step += 1) {
        const next = await successors(model, world)
        const digest = digestOf(model)
        const other = known.get(digest)
        // Another moment is enough to be another situation.
        if (other !== undefined && other.now !== model.now) {
          compared += 1
          expect(ends(next)).toEqual(ends(await successors(other, world)))
        }
        known.set(digest, other ?? model)
        model = random.pick(next.filter(({ broken }) => broken.length === 0)).model
      }
    }
    expect(compared).toBeGreaterThan(0)
  },
  120_000,
)
