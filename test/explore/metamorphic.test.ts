import { expect, test } from 'vitest'
import { MOUNTED } from '../support/mounted-secrets.ts'
import { compareWith } from './metamorphic.ts'
import { storyAsText } from './story.ts'
import { WORLDS } from './worlds.ts'

/* CI explores every other world with each kind of secrets: `npm run explore -- --secrets`. `first-stories.test.ts` leaves this world to it. */

test('the world "resting" breaks no law in the first stories, also with secrets equal to texts of replies', async () => {
  const world = WORLDS.find(({ name }) => name === 'resting')
  if (world === undefined) throw new Error('it is not there')
  const { compared, difference, plain } = await compareWith(world, MOUNTED.slice(0, 1), 1)
  expect(plain.story && (await storyAsText(world, plain.story))).toBeUndefined()
  expect(difference).toBeUndefined()
  expect(compared).toBeGreaterThan(0)
})
