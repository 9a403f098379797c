import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { aborted } from '../../src/lib/clock.ts'

test('a signal that only a wait holds is waited for although garbage is collected', async () => {
  const stop = new AbortController()
  const ended = Promise.all([
    aborted(stop.signal),
    aborted(AbortSignal.any([stop.signal, new AbortController().signal])),
  ])
  await new Promise((resolve) => setImmediate(resolve))
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  stop.abort()
  expect(await ended).toHaveLength(2)
  await aborted(AbortSignal.abort())
})
