import { expect, test } from 'vitest'
import { createRequests } from '../../src/daemon/readings.ts'

test('a request is done when the last key was reconciled', () => {
  const requests = createRequests(() => 'tok-1')
  const token = requests.open()
  expect(requests.progress(token)).toEqual({ done: false, pending: 0 })
  requests.expect(token, ['Pipe/a', 'Pipe/b'])
  requests.request('Pipe/a')()
  expect(requests.progress(token)).toEqual({ done: false, pending: 1 })
  requests.request('Pipe/b')()
  expect(requests.progress(token)).toEqual({ done: true, pending: 0 })
})

test('a request of which nothing comes is done', () => {
  const requests = createRequests(() => 'tok-1')
  requests.expect(requests.open(), [])
  expect(requests.progress('tok-1')).toEqual({ done: true, pending: 0 })
  expect(requests.progress('tok-2')).toBe(undefined)
})
