import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import type { Live } from '../support/live.ts'
import { createStory, type Story } from './support/story.ts'
import { pipeManifest, type PipeOptions } from '../support/manifests.ts'

/* Row 7: `policy.replaces` excuses the one key that it names. Left in the manifest, it is no leave for a later rename. */

const REPLACES = { replaces: 'Pipe/orders' }

/** A pipe `orders-v2` that was made beside `orders`, whose manifest is gone; both are called `orders` on the platform. */
async function replacedOnce(story: Story): Promise<Live> {
  const { platform, workspace } = story
  story.writePipe('orders')
  const live = await story.start(['--interval', '1s'])
  await live.says('Pipe/orders', 'Ready')
  workspace.write('manifests/orders.yaml', '# gone\n')
  story.writePipe('orders-v2', { name: 'orders', replicas: 2, policy: REPLACES })
  await live.says('Pipe/orders-v2', 'Ready')
  await live.says('Pipe/orders', 'Orphaned')
  if (platform.posts().length !== 2) throw new Error('two pipes were asked for')
  return live
}

interface Rename {
  readonly what: string
  readonly pipe: PipeOptions
  /** `spec.name`, when it is another one than the rest of it suggests. */
  readonly platformName?: string
  /** What the new key comes to, and whether it has the pipe of the old one then. */
  readonly reason: string
  readonly moves: boolean
}

const RENAMES: readonly Rename[] = [
  {
    what: 'a pure rename takes the pipe along',
    pipe: { name: 'orders', replicas: 2, policy: REPLACES },
    reason: 'Ready',
    moves: true,
  },
  {
    what: 'a rename with an edit is suspected',
    pipe: { name: 'orders', replicas: 3, policy: REPLACES },
    reason: 'RenameSuspected',
    moves: false,
  },
  {
    what: 'a rename of both names is suspected',
    pipe: { name: 'orders', replicas: 2, policy: REPLACES },
    platformName: 'sales',
    reason: 'RenameSuspected',
    moves: false,
  },
]

describe.concurrent('row 7: a later rename of a pipe that says policy.replaces', () => {
  test.for(RENAMES)('$what: there is no third pipe', async (rename, { expect }) => {
    const { pipe, platformName = 'orders', reason, moves } = rename
    await using story = await createStory()
    const { platform, workspace } = story
    const live = await replacedOnce(story)
    const { pipeId } = await live.says('Pipe/orders-v2', 'Ready')
    // As one commit does it.
    await live.reads(() => {
      workspace.write('manifests/orders-v2.yaml', '# gone\n')
      const text = pipeManifest('orders-v3', pipe).replace('  name: orders\n', `  name: ${platformName}\n`)
      workspace.write('manifests/orders-v3.yaml', text)
    })
    await until('it to be decided', async () => {
      const shown = await live.resource('Pipe/orders-v3')
      return platform.posts().length > 2 || shown?.reason === reason || shown?.status === reason
    })
    expect(platform.posts().map(({ text }) => text.slice(0, 16))).toHaveLength(2)
    if (moves) expect((await live.resource('Pipe/orders-v3'))?.pipeId).toBe(pipeId)
    const looks = platform.gets(pipeId ?? '').length
    await live.stop()
    const again = await story.start(['--interval', '1s'])
    await again.says('Pipe/orders-v3', reason)
    if (moves) await until('three more looks', () => platform.gets(pipeId ?? '').length >= looks + 3)
    expect(platform.posts()).toHaveLength(2)
    expect(platform.world.pipes).toHaveLength(2)
  })

  test('a copy of the manifest beside it is refused, too', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const live = await replacedOnce(story)
    story.writePipe('orders-v3', { name: 'orders', replicas: 2, policy: REPLACES })
    await until('it to be decided', async () => {
      const shown = await live.resource('Pipe/orders-v3')
      return platform.posts().length > 2 || shown?.status === 'Refused'
    })
    expect(platform.posts()).toHaveLength(2)
    expect((await live.resource('Pipe/orders-v3'))?.reason).toBe('NameTaken')
  })
})
