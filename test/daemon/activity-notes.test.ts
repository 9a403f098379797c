import { expect, test } from 'vitest'
import { type Activity, runStateOf, type DaemonSummary } from '../../src/contract/activity.ts'
import { LedgerError } from '../../src/contract/ledger.ts'
import { startActivityNotes } from '../../src/daemon/activity-notes.ts'
import { given, MINUTE } from '../reconcile/given.ts'
import { pipe } from '../reconcile/manifests.ts'

/* What a process writes of itself into its ledger: at its start and its end, and when a read brings news. */

async function starting() {
  const world = await given({ 'a.yaml': pipe('a') })
  const { ledger } = world
  let whole: DaemonSummary = { errors: 0, withoutLock: 1 }
  let isBusy = false
  const written: Activity[] = []
  const start = () =>
    startActivityNotes({
      command: 'run',
      ledger: {
        ...ledger,
        async noteActivity(activity, checked) {
          if (isBusy) throw new LedgerError('locked', 'it cannot be written')
          written.push(activity)
          await ledger.noteActivity(activity, checked)
        },
      },
      store: world.context.store,
      clock: world.clock,
      url: 'http://127.0.0.1:8080/',
      whole: () => whole,
    })
  return {
    world,
    start,
    written,
    set: (facts: DaemonSummary) => void (whole = facts),
    setBusy: (busy: boolean) => void (isBusy = busy),
  }
}

test('it writes at the start, after a read that brings news, and at the end; nothing else', async () => {
  const { world, start, written, set } = await starting()
  const notes = await start()
  expect(written).toMatchObject([{ errors: 0, url: 'http://127.0.0.1:8080/' }])
  await world.clock.advance(60 * MINUTE)
  notes.noteRead()
  set({ errors: 0, withoutLock: 2 })
  notes.noteRead()
  expect(written).toHaveLength(1)
  set({ errors: 2, withoutLock: 2 })
  notes.noteRead()
  expect(written).toHaveLength(2)
  expect(written[1]).toMatchObject({ errors: 2 })
  await notes.stop()
  expect(written[2]).toMatchObject({ errors: 2, withoutLock: 2, stoppedAt: world.clock.now() })
})

test('what could not be written is written after the next read', async () => {
  const { start, written, set, setBusy } = await starting()
  const notes = await start()
  setBusy(true)
  set({ errors: 1 })
  notes.noteRead()
  await Promise.resolve()
  setBusy(false)
  notes.noteRead()
  expect(written.at(-1)).toMatchObject({ errors: 1 })
})

test('the times of checks are written at the end, and the next process knows them and the last words', async () => {
  const { world, start } = await starting()
  const notes = await start()
  await world.go('Pipe/a')
  const checked = world.context.store.checkedAt('Pipe/a')
  expect(checked).toBeDefined()
  expect((await world.ledger.activity()).checkedAt).toEqual(new Map())
  await notes.stop()
  expect((await world.ledger.activity()).checkedAt?.get('Pipe/a')).toBe(checked)
  const next = await start()
  expect(runStateOf(next.before, false)).toBe('stopped')
})
