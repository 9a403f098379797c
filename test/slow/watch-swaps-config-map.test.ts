import { expect, test } from 'vitest'
import { expectThousandSwaps } from './support/git-sync-thousand.ts'
import { createConfigMapPublisher } from './support/git-sync-trees.ts'

test('a thousand swaps of a ConfigMap volume are each seen once', { timeout: 170_000 }, async () => {
  const told = await expectThousandSwaps(createConfigMapPublisher)
  process.stdout.write(`a ConfigMap volume: ${told}\n`)
  expect(told).toContain('1000 swaps')
})
