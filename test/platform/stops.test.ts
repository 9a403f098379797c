import { expect, test, vi } from 'vitest'
import { createStops } from '../../src/platform/stops.ts'

test('a signal is listened to once, and everybody who still listens is told once', () => {
  const stops = createStops()
  const controller = new AbortController()
  const listens = vi.spyOn(controller.signal, 'addEventListener')
  const told: string[] = []
  stops.listen(controller.signal, () => told.push('a'))
  const unlisten = stops.listen(controller.signal, () => told.push('b'))
  stops.listen(controller.signal, () => {
    told.push('c')
    // Nobody who listens from now on is told any more.
    stops.listen(controller.signal, () => told.push('late'))
  })
  unlisten()
  controller.abort()
  expect(told).toEqual(['a', 'c'])
  expect(listens).toHaveBeenCalledTimes(1)
})

test('signals do not know of each other', () => {
  const stops = createStops()
  const [one, other] = [new AbortController(), new AbortController()]
  const told: string[] = []
  stops.listen(one.signal, () => told.push('one'))
  stops.listen(other.signal, () => told.push('other'))
  one.abort()
  expect(told).toEqual(['one'])
})
