import { afterAll, beforeAll, expect, test } from 'vitest'
import { explore } from './explore.ts'
import { storyAsText } from './story.ts'
import type { World } from './worlds.ts'

/** Explores each of these worlds so deep. */
export function exploreFirst(worlds: readonly World[], depthOf: (world: World) => number): void {
  const { stackTraceLimit } = Error
  // As in `main.ts`.
  beforeAll(() => void (Error.stackTraceLimit = 0))
  afterAll(() => void (Error.stackTraceLimit = stackTraceLimit))

  test.each(worlds.map((world) => [world.name, world] as const))(
    'the world "%s" breaks no law in the first stories, and something happens in it',
    async (_, world) => {
      const { story, situations } = await explore(world, { depth: depthOf(world), until: Infinity })
      expect(story && (await storyAsText(world, story))).toBeUndefined()
      expect(situations).toBeGreaterThan(0)
    },
  )
}
