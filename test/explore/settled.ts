import { play } from './play.ts'
import { keyOfWish, type Model, SECOND } from './model.ts'
import type { World } from './worlds.ts'
import { passTime } from './hiding.ts'

/** How a story begins: where the world says so, all pipes are made, seen and a while old. */
export async function settledModel(world: World): Promise<Model> {
  let model = world.begin()
  if (!world.isSettled) return model
  if (model.pods !== undefined)
    return (await play(model, world, { step: 'one takes over', script: [] })).model
  const looks = model.wishes.map((wish) => `look ${keyOfWish(wish)}`)
  for (const isAgain of [false, true]) {
    if (isAgain) passTime(model, 61 * SECOND)
    for (const step of looks) model = (await play(model, world, { step, script: [] })).model
  }
  return model
}
