import type { Story } from './explore.ts'
import { play } from './play.ts'
import { settledModel } from './settled.ts'
import type { World } from './worlds.ts'

/** A story in numbered sentences, told by playing it once more. */
export async function storyAsText(world: World, story: Story): Promise<string> {
  let model = await settledModel(world)
  const lines: string[] = []
  for (const [index, move] of story.moves.entries()) {
    const played = await play(model, world, move)
    model = played.model
    lines.push(
      ...played.lines.map(
        (line, nth) => `${nth === 0 ? `${String(index + 1).padStart(3)}. ` : '     '}${line}`,
      ),
    )
  }
  return [...lines, ...story.broken.map((law) => `  => ${law}`)].join('\n')
}
