import { expect, test } from 'vitest'
import { MOUNTED } from '../support/mounted-secrets.ts'
import { compareWith } from './metamorphic.ts'
import { WORLDS } from './worlds.ts'

/* The rest is `npm run explore -- --secrets`. */

test('a world goes on as it would with secrets equal to texts of replies', async () => {
  const [world, mounted] = [WORLDS.find(({ name }) => name === 'tables'), MOUNTED[0]]
  if (world === undefined || mounted === undefined) throw new Error('it is not there')
  const { compared, difference } = await compareWith(world, mounted, 1)
  expect(difference).toBeUndefined()
  expect(compared).toBeGreaterThan(0)
})
