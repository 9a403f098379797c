import { expect, test } from 'vitest'
import { expectThousandSwaps } from './support/git-sync-thousand.ts'
import { createLinkPublisher } from './support/git-sync-trees.ts'

test.each([
  { why: 'the link is the root', below: '' },
  { why: 'the root lies below the link', below: 'deploy/manifests' },
])(
  'a thousand git-sync swaps, half of the old trees removed, are each seen once: $why',
  { timeout: 170_000 },
  async ({ why, below }) => {
    const told = await expectThousandSwaps((base) => {
      return createLinkPublisher({ base, below, removesBefore: (generation) => generation % 2 === 0 })
    })
    process.stdout.write(`${why}: ${told}\n`)
    expect(told).toContain('1000 swaps')
  },
)
