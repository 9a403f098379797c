import { expect, test } from 'vitest'
import { createFreshSecrets } from '../../src/platform/secret-store.ts'
import { createFakeClock } from '../support/fake-clock.ts'

test('each file is read at most ten times a second, and again after that or when it is to be forgotten, found or not', async () => {
  const clock = createFakeClock()
  const reads: string[] = []
  const store = createFreshSecrets(
    {
      async read({ name, key }) {
        reads.push(`${name}/${key}`)
        return { found: false, file: `${name}/${key}`, why: 'absent' }
      },
      async readFile(file) {
        reads.push(file)
        return { found: false, file, why: 'absent' }
      },
    },
    clock,
  )
  const readTwo = async () => {
    for (const key of ['a', 'b', 'a', 'b']) await store.read({ name: 's', key }, 'source')
  }
  await readTwo()
  await clock.advance(99)
  await readTwo()
  expect(reads).toEqual(['s/a', 's/b'])
  await clock.advance(1)
  await readTwo()
  expect(reads).toEqual(['s/a', 's/b', 's/a', 's/b'])
  store.forget()
  await readTwo()
  expect(reads).toHaveLength(6)
})
