import { expect, test } from 'vitest'
import { prepare } from '../../src/cli/prepare.ts'
import type { Event } from '../../src/reconcile/events.ts'

function part(name: string, loaded: string[], then: () => void = () => undefined) {
  return {
    async prepare() {
      loaded.push(name)
      then()
    },
  }
}

function fail(): never {
  throw new Error('the file is gone')
}

test('loads one part after the other, and tells of one that cannot be loaded', async () => {
  const loaded: string[] = []
  const told: Event[] = []
  const parts = [part('metrics', loaded, fail), part('app', loaded)]
  await prepare(parts, { emit: (event) => told.push(event), stopping: new AbortController().signal })
  expect(loaded).toEqual(['metrics', 'app'])
  expect(told).toMatchObject([{ type: 'Bug', error: { message: 'the file is gone' } }])
})

test('loads nothing more for a daemon that is to stop', async () => {
  const loaded: string[] = []
  const stop = new AbortController()
  const parts = [part('metrics', loaded, () => stop.abort()), part('app', loaded)]
  await prepare(parts, { emit: fail, stopping: stop.signal })
  expect(loaded).toEqual(['metrics'])
})
