import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { aborted } from '../../src/lib/clock.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('a signal that only a wait holds is waited for although garbage is collected', async () => {
  const stop = new AbortController()
  const waits = [
    aborted(stop.signal),
    aborted(AbortSignal.any([stop.signal, new AbortController().signal])),
    aborted(AbortSignal.any([stop.signal, AbortSignal.any([stop.signal])])),
  ]
  const ended = Promise.all(waits)
  waits.length = 0
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  stop.abort()

  expect(await ended).toHaveLength(3)
  await aborted(AbortSignal.abort())
})
