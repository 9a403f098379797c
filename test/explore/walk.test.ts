import { expect, test } from 'vitest'
import { tellWalks } from './walk.ts'
import { LARGE_WORLDS } from './worlds.ts'

// Many more are told in `test/slow/walks.test.ts`.
test.each(LARGE_WORLDS.map((world) => [world.name, world] as const))(
  'some long stories of the world "%s" break no law, and each ends quietly',
  async (_, world) => {
    expect(await tellWalks(world, { seed: 'short', count: 3 })).toBeUndefined()
  },
)
