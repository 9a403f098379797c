import { expect, test } from 'vitest'
import { MOUNTED } from '../support/mounted-secrets.ts'
import { compareWith } from './metamorphic.ts'
import { WORLDS } from './worlds.ts'

/* The rest is `npm run explore -- --secrets`. */

test.each(
  WORLDS.filter(({ name }) => name === 'tables').flatMap((world) =>
    MOUNTED.map((mounted) => [world.name, mounted.name, world, mounted] as const),
  ),
)('the world "%s" goes on as it would with secrets %s', async (_world, _mounted, world, mounted) => {
  const { compared, difference } = await compareWith(world, mounted, 1)
  expect(difference).toBeUndefined()
  expect(compared).toBeGreaterThan(0)
})
