import { expect, test } from 'vitest'
import { keyOf } from '../../src/kinds/key.ts'
import { retryCreate } from '../../src/reconcile/operator/resolve.ts'
import { startClient } from './client.ts'
import { KAFKA, pipeOf, POSTGRES } from './edited-pipes.ts'
import { withRefs } from './refs.ts'

const KEY = keyOf('Pipe', 'second')

// The service was seen to need three minutes for a create, and the provider allows five (facts 7).
test.each([
  [6, 'refused', 'the service might still carry it out'],
  [8, 'done', 'you confirm that it created no resource'],
])('a retry of a create without an id is, after %i minutes, %s', async (minutes, result, words) => {
  await using client = await startClient(POSTGRES)
  client.interfere(({ method }) => (method === 'POST' ? { answered: {} } : undefined))
  for (const { name, key, text } of withRefs(KAFKA).secrets) client.mounted.set(`${name}/${key}`, text)
  await client.put('second.json', pipeOf('second', { ...KAFKA, name: 'second' }))
  await client.reconcile(undefined, KEY)
  expect(client.record(KEY)?.intent?.state).toBe('unknown')
  client.skip(minutes * 60_000)
  const answer = await retryCreate(client.context(), KEY, { force: false })
  expect(answer).toMatchObject({ result, message: expect.stringContaining(words) })
})
