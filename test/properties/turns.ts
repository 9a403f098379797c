import type { Key } from '../../src/kinds/key.ts'
import type { Reconciled } from '../../src/reconcile/reconciled.ts'
import type { Process, Surroundings } from '../reconcile/given.ts'
import { endedOf, startProcess } from '../reconcile/given.ts'

/** One key in one of the two processes. */
interface Due {
  readonly index: number
  readonly key: Key
}

/** The two processes of a history, and whose turn it is. */
export interface Turns {
  readonly processes: readonly Process[]
  /** Whether the second daemon ever acted. */
  readonly daemons: 1 | 2
  at(index: number): Process
  restart(index: number): Promise<void>
  /** A turn, and one of each key that it asks for. */
  turns(index: number, key: Key): Promise<void>
  /** Turns that meet at any await. */
  meeting(most: number, wanted: readonly Due[]): Promise<void>
  /** A turn whose next request of a kind is not answered before something else has happened. */
  slowly(operation: 'create' | 'admit', key: Key, meanwhile: () => Promise<void>): Promise<void>
  /** Every key has a turn. */
  pass(index: number, ms: number): Promise<void>
}

export async function createTurns(around: Surroundings): Promise<Turns> {
  const { clock, platform } = around
  const busy = new Set<Key>()
  let daemons: 1 | 2 = 1
  let hops = 0
  const processes = [await start(), await start()]

  function start(): Promise<Process> {
    let step = 0
    // Not the same for each call, but the same each time the history is played.
    const next = () => (hops === 0 ? 0 : (step = (step * 7 + 3) % 11) % (hops + 1))
    return startProcess(around, { hops: next })
  }

  function at(index: number): Process {
    const process = processes[index]
    if (process === undefined) throw new Error(`there is no process ${index}`)
    return process
  }

  async function restart(index: number): Promise<void> {
    at(index).ledger.kill()
    processes[index] = await start()
    if (index === 0) busy.clear()
  }

  function turn(index: number, key: Key): Promise<readonly Key[]> {
    return turnsAtOnce([{ index, key }])
  }

  /** Turns side by side, each of another key or process. @returns the keys that they ask for */
  async function turnsAtOnce(wanted: readonly Due[]): Promise<readonly Key[]> {
    // The queue never starts a second turn of a key.
    const due = wanted.filter(({ index, key }) => index !== 0 || !busy.has(key))
    if (due.some(({ index }) => index === 1)) daemons = 2
    const running = due.map(({ index, key }) => at(index).begin(key))
    return outcomesOf(due, running)
  }

  /** Turns that meet at any await. */
  async function meeting(most: number, wanted: readonly Due[]): Promise<void> {
    hops = most
    await turnsAtOnce(wanted)
    hops = 0
  }

  async function outcomesOf(
    due: readonly Due[],
    running: readonly Promise<Reconciled>[],
  ): Promise<readonly Key[]> {
    const isEnded = await endedOf(clock, running)
    const results = await Promise.allSettled(running.filter((_, nth) => isEnded[nth] === true))
    const failure = results.find((result) => result.status === 'rejected')
    if (failure !== undefined) {
      const keys = due.map(({ key }) => key).join(', ')
      throw new Error(`a turn of ${keys} threw ${String(failure.reason)}`, { cause: failure.reason })
    }
    for (const index of new Set(due.filter((_, nth) => isEnded[nth] !== true).map((one) => one.index)))
      await restart(index)
    return results.flatMap((result) => (result.status === 'fulfilled' ? result.value.also : []))
  }

  /** A turn whose next request of a kind is not answered before something else has happened. */
  async function slowly(
    operation: 'create' | 'admit',
    key: Key,
    meanwhile: () => Promise<void>,
  ): Promise<void> {
    if (busy.has(key)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    platform.script(operation, { type: 'slow', until: promise })
    const running = at(0).begin(key)
    busy.add(key)
    for (let hop = 0; hop < 200; hop += 1) await Promise.resolve()
    await meanwhile()
    resolve()
    await outcomesOf([{ index: 0, key }], [running])
    busy.delete(key)
  }

  /** A turn, and one of each key that it asks for. */
  async function turns(index: number, key: Key): Promise<void> {
    for (const other of await turn(index, key)) await turn(index, other)
  }

  async function pass(index: number, ms: number): Promise<void> {
    // What is shown is due again too, such as a key that was forgotten while the disk failed.
    const shown = at(index)
      .board.list()
      .map(({ key }) => key)
    for (const key of new Set([...at(index).keys(), ...shown])) await turns(index, key)
    await clock.advance(ms)
  }

  return {
    processes,
    get daemons() {
      return daemons
    },
    at,
    restart,
    turns,
    meeting,
    slowly,
    pass,
  }
}
