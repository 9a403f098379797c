import { expect, test } from 'vitest'
import { authorize } from '../../src/server/api/admin-requests.ts'
import { fakeOperator } from './fake-parts.ts'

test.each([
  ['127.0.0.1', '127.0.0.1', 'fulfilled'],
  ['192.0.2.7', '192.0.2.7', 'fulfilled'],
  ['192.0.2.8', '192.0.2.7', 'rejected'],
])('the token of the owner from %s at %s: %s', async (remoteAddress, localAddress, status) => {
  const from = { headers: { authorization: 'Bearer own' }, socket: { remoteAddress, localAddress } }
  const asked = authorize(from as Parameters<typeof authorize>[0], fakeOperator({ ownerToken: 'own' }))
  expect(await Promise.allSettled([asked])).toMatchObject([{ status }])
})
