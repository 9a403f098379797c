import { expect, test } from 'vitest'
import { createRandom } from '../torture/random.ts'
import { otherScripts } from '../explore/chooser.ts'
import { digestOf } from '../explore/digest.ts'
import type { Model } from '../explore/model.ts'
import { play, type Move, type Played } from '../explore/play.ts'
import { settledModel } from '../explore/settled.ts'
import { stepsOf } from '../explore/steps.ts'
import { WORLDS, type World } from '../explore/worlds.ts'

/*
 * The explorer goes on from one of all situations with the same digest. So whatever can happen in one of them has to happen
 * in the others too, and end alike. Random walks look for two that are not the same, and have the same digest.
 */

const COMPARISONS = 40
const LONGEST_WALK = 30
const WALKS = 16

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

function ends(all: readonly Played[], world: World): readonly string[] {
  // One may write words, and so have one more place to die at, where the other has them already.
  const each = all.map((played) => `${played.cost} ${played.broken.length} ${digestOf(played.model, world)}`)
  return [...new Set(each)].toSorted()
}

/** Walks at random until two situations have the same digest, so many times. @returns what came next in each pair */
async function pairsOf(world: World): Promise<readonly (readonly [readonly string[], readonly string[]])[]> {
  const random = createRandom(`digest of ${world.name}`)
  const known = new Map<string, Model>()
  const pairs: (readonly [readonly string[], readonly string[]])[] = []
  for (let walk = 0; walk < WALKS; walk += 1) {
    let model = await settledModel(world)
    for (let step = 0; step < LONGEST_WALK && pairs.length < COMPARISONS; step += 1) {
      const next = await successors(model, world)
      const digest = digestOf(model, world)
      const other = known.get(digest)
      // Another moment is enough to be another situation.
      if (other !== undefined && other.now !== model.now)
        pairs.push([ends(next, world), ends(await successors(other, world), world)])
      known.set(digest, other ?? model)
      model = random.pick(next.filter(({ broken }) => broken.length === 0)).model
    }
  }
  return pairs
}

// Which of two pipes that are alike is hit first is no part of a digest.
test.each(WORLDS.map((world) => [world.name, { ...world, twins: false }] as const))(
  'situations of the world "%s" with the same digest go on alike',
  async (_, world) => {
    const pairs = await pairsOf(world)
    expect(pairs.length).toBeGreaterThan(0)
    for (const [one, other] of pairs) expect(one).toEqual(other)
  },
)
