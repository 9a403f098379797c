import { expect, test } from 'vitest'
import { createRequests } from '../../src/daemon/reconcile-tokens.ts'

test('a request is done when the last key was reconciled, and that is written down', async () => {
  const { promise: written, resolve: write } = Promise.withResolvers<void>()
  let tries = 0
  const requests = createRequests(
    () => 'tok-1',
    () => {
      tries += 1
      return written
    },
  )
  const token = requests.open()
  expect(requests.progress(token)).toEqual({ done: false, pending: 0 })
  requests.expect(token, ['Pipe/a', 'Pipe/b'])
  requests.request('Pipe/a')()
  expect([tries, requests.progress(token)]).toEqual([0, { done: false, pending: 1 }])
  requests.request('Pipe/b')()
  await Promise.resolve()
  expect([tries, requests.progress(token)]).toEqual([1, { done: false, pending: 0 }])
  write()
  await expect.poll(() => requests.progress(token)).toEqual({ done: true, pending: 0 })
})

test('a request of which nothing comes is done, and nothing is written', () => {
  const requests = createRequests(
    () => 'tok-1',
    () => Promise.reject(new Error('nothing is to be written')),
  )
  requests.expect(requests.open(), [])
  expect(requests.progress('tok-1')).toEqual({ done: true, pending: 0 })
  expect(requests.progress('tok-2')).toBe(undefined)
})
