import { expect, test } from 'vitest'
import type { WholeFacts } from '../../src/contract/activity.ts'
import { LedgerError } from '../../src/contract/ledger.ts'
import { startHeartbeat } from '../../src/daemon/heartbeat.ts'
import { given } from '../reconcile/given.ts'
import { pipe, service } from '../reconcile/manifests.ts'

/* When a process says in the ledger that it lives, and what is wrong with the whole. */

async function beating() {
  const world = await given({ 'service.yaml': service(), 'a.yaml': pipe('a') })
  const { ledger, clock } = world
  let whole: WholeFacts = { errors: 0 }
  let isBusy = false
  const said: WholeFacts[] = []
  let tries = 0
  const heartbeat = await startHeartbeat({
    command: 'run',
    ledger: {
      ...ledger,
      activity: () => ledger.activity(),
      async noteActivity({ errors }) {
        tries += 1
        if (isBusy) throw new LedgerError('locked', 'another process keeps it busy')
        said.push({ errors })
      },
    },
    store: world.context.store,
    clock,
    url: undefined,
    worksWith: {},
    whole: () => whole,
  })
  return {
    world,
    clock,
    heartbeat,
    said,
    tries: () => tries,
    set: (facts: WholeFacts) => void (whole = facts),
    setBusy: (busy: boolean) => void (isBusy = busy),
  }
}

test('it says so every 30 seconds, and within 5 when something is wrong that was not, or is right again', async () => {
  const { clock, said, set, heartbeat } = await beating()
  await clock.advance(60_000)
  expect(said).toEqual([{ errors: 0 }, { errors: 0 }, { errors: 0 }])
  set({ errors: 2 })
  await clock.advance(5_000)
  expect(said.at(-1)).toEqual({ errors: 2 })
  set({ errors: 0 })
  await clock.advance(5_000)
  expect(said.slice(3)).toEqual([{ errors: 2 }, { errors: 0 }])
  await heartbeat.stop()
})

test('a ledger that is busy is tried no more often because of news', async () => {
  const { clock, tries, said, set, setBusy, heartbeat } = await beating()
  setBusy(true)
  set({ errors: 1 })
  await clock.advance(65_000)
  // The first because of the news, and then one every 30 seconds.
  expect(tries()).toBe(1 + 3)
  setBusy(false)
  await clock.advance(30_000)
  expect(said.at(-1)).toEqual({ errors: 1 })
  await heartbeat.stop()
})

test('what a person asked for is written down at once, what comes together in one write, and nothing after the end', async () => {
  const { clock, said, heartbeat } = await beating()
  const written = Promise.all([heartbeat.noteChecks(), heartbeat.noteChecks()])
  await clock.advance(100)
  await written
  expect(said.length).toBe(1 + 1)
  const late = heartbeat.noteChecks()
  await heartbeat.stop()
  await clock.advance(100)
  await late
  expect(said.length).toBe(2 + 1)
})
