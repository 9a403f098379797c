import { expect, test } from 'vitest'
import { twoWriters } from './support/two-writers.ts'

test('a daemon that froze before its intent, and was replaced, sends nothing when it goes on', async () => {
  const { pipes, posts, recorded, output } = await twoWriters()
  expect({ pipes, posts }, output).toEqual({ pipes: [recorded], posts: 1 })
})
