import type { Key } from '../../src/kinds/key.ts'
import { keyOf } from '../../src/kinds/key.ts'
import type { ParsedFile } from '../../src/manifest/parse-file.ts'
import type { Answer } from '../../src/reconcile/person.ts'
import { LedgerError } from '../../src/reconcile/ports.ts'
import type { Reconciled } from '../../src/reconcile/reconciled.ts'
import type { Process, Surroundings } from '../reconcile/given.ts'
import { createSurroundings, ended, endedOf, startProcess } from '../reconcile/given.ts'
import type { Command } from './commands.ts'
import { LINES } from './commands.ts'
import { edit, isEdit } from './edits.ts'
import { createGround } from './ground.ts'
import type { Line } from './lines.ts'
import { identityOf, nameOfLine, newLine } from './lines.ts'
import { judgePost } from './one-pipe.ts'
import type { Oracle } from './oracle.ts'
import { createOracle } from './oracle.ts'
import { createPersons, isWord } from './persons.ts'
import { createSight } from './sight.ts'

/** A history under way. */
export interface Play {
  readonly around: Surroundings
  readonly oracle: Oracle
  readonly processes: readonly Process[]
  readonly lines: readonly Line[]
  /** Whether the second daemon ever acted. */
  readonly daemons: 1 | 2
  play(command: Command): Promise<void>
  /** Everything works and every manifest is valid from now on. */
  calm(): Promise<void>
  /** Every key has a turn, in the first process. */
  pass(ms: number): Promise<void>
}

export async function begin(parsed: Map<string, ParsedFile>): Promise<Play> {
  const around: Surroundings = createSurroundings({
    parsed,
    onWritten: (written) => oracle.written(written),
  })
  const { clock, platform, ledger, secrets, directory } = around
  const lines = Array.from({ length: LINES }, (_, index) => newLine(index))
  const busy = new Set<Key>()
  const sight = createSight(clock)
  const ground = createGround(directory.files, lines)
  const oracle = createOracle({ platform, clock, sight })
  let daemons: 1 | 2 = 1
  let hops = 0
  ground.write()
  platform.obstacles = {
    ...sight,
    posted(post, owner) {
      const { excused } = oracle.words
      const moment = { platform, clock, secrets, ground, lines, daemons, excused }
      for (const violation of judgePost(post, owner, moment)) oracle.blame(violation)
    },
  }
  const processes = [await start(), await start()]
  const persons = createPersons({
    around,
    oracle,
    ground,
    lineAt,
    edited,
    read: reading,
    answered,
    deps() {
      const { deps } = at(0)
      return { platform, ledger: deps.ledger, secrets, world: deps.world, clock }
    },
  })

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

  function lineAt(index: number): Line {
    const line = lines[index]
    if (line === undefined) throw new Error(`there is no line ${index}`)
    return line
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
  async function turnsAtOnce(wanted: readonly { index: number; key: Key }[]): Promise<readonly Key[]> {
    // The queue never starts a second turn of a key.
    const due = wanted.filter(({ index, key }) => index !== 0 || !busy.has(key))
    if (due.some(({ index }) => index === 1)) daemons = 2
    const running = due.map(({ index, key }) => at(index).begin(key))
    return outcomesOf(due, running)
  }

  /** Turns that meet at any await. */
  async function meeting(most: number, wanted: Parameters<typeof turnsAtOnce>[0]): Promise<void> {
    hops = most
    await turnsAtOnce(wanted)
    hops = 0
  }

  async function outcomesOf(
    due: readonly { index: number; key: Key }[],
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

  /** A create that takes its time, and what happens meanwhile. */
  async function during({ line, meanwhile }: Command & { readonly type: 'during' }): Promise<void> {
    await slowly('create', keyOf('Pipe', nameOfLine(lineAt(line))), () => play(meanwhile))
  }

  /** A create that waits for its permit, and what happens meanwhile. */
  async function waiting({ line, ms, meanwhile }: Command & { readonly type: 'waiting' }): Promise<void> {
    const key = keyOf('Pipe', nameOfLine(lineAt(line)))
    await slowly('admit', key, async () => {
      for (const command of meanwhile) await play(command)
      await clock.advance(ms)
    })
  }

  /** A turn, and one of each key that it asks for. */
  async function turns(index: number, key: Key): Promise<void> {
    for (const other of await turn(index, key)) await turn(index, other)
  }

  async function passOf(index: number, ms: number): Promise<void> {
    // What is shown is due again too, such as a key that was forgotten while the disk failed.
    const shown = at(index)
      .board.list()
      .map(({ key }) => key)
    for (const key of new Set([...at(index).keys(), ...shown])) await turns(index, key)
    await clock.advance(ms)
  }

  /** The directory after a change, read by both; whoever changed has a turn in the first process. */
  async function edited(line: Line, change: (line: Line) => void): Promise<void> {
    change(line)
    ground.write()
    await reading()
  }

  async function reading(): Promise<void> {
    at(1).read()
    for (const key of at(0).read()) await turns(0, key)
  }

  async function idOf(line: Line): Promise<string> {
    return (await ledger.get(keyOf('Pipe', nameOfLine(line))))?.pipe?.id ?? ''
  }

  async function answered(word: Promise<Answer>): Promise<Answer | undefined> {
    // A disk that fails says so to the person, who may try again.
    const said = word.catch((error: unknown) => {
      if (error instanceof LedgerError) return undefined
      throw error
    })
    const outcome = await ended(
      clock,
      said.then((answer) => ({ answer })),
    )
    if (outcome === undefined) await restart(0)
    return outcome?.answer
  }

  async function play(command: Command): Promise<void> {
    if (isWord(command)) return persons.say(command)
    if (isEdit(command)) {
      if (command.type === 'replaces') oracle.words.excused.add(identityOf(lineAt(command.line)))
      return edited(lineAt(command.line), (line) => edit(line, command, clock.now()))
    }
    switch (command.type) {
      case 'rotate':
        return void secrets.mounted.set('kafka/password', `rotated-${around.newId()}`)
      case 'unmount':
        return void secrets.mounted.delete('kafka/password')
      case 'mount':
        return void secrets.mounted.set('kafka/password', 'first')
      case 'service-flaw':
      case 'service-mend':
      case 'service-move':
      case 'service-back':
      case 'lock-break':
      case 'lock-mend':
        ground.change(command.type)
        ground.write()
        return reading()
      case 'hide': {
        const line = lineAt(command.line)
        const whose = { serviceId: ground.serviceIdOf(line), topics: identityOf(line) }
        return sight.hide({ ...command, ...whose })
      }
      case 'show':
        return sight.show(command.who)
      case 'crash':
        return restart(command.process)
      case 'jump':
        oracle.jumped()
        return clock.jump(command.ms)
      case 'advance':
        return clock.advance(command.ms)
      case 'replies':
        return platform.script(command.operation, ...command.replies)
      case 'disk':
        return at(command.process).ledger.script(...command.writes)
      case 'unreadable':
        return at(command.process).ledger.unreadable(command.reads)
      case 'vanish':
        for (const line of command.lines) platform.pipes.delete(await idOf(lineAt(line)))
        return
      case 'change': {
        const pipe = platform.pipes.get(await idOf(lineAt(command.line)))
        if (pipe !== undefined) pipe.body = { ...pipe.body, scaling: { replicas: 9 } }
        return
      }
      case 'turn':
        return turns(command.process, keyOf('Pipe', nameOfLine(lineAt(command.line))))
      case 'both': {
        const key = keyOf('Pipe', nameOfLine(lineAt(command.line)))
        return meeting(command.hops, [
          { index: 0, key },
          { index: 1, key },
        ])
      }
      case 'together': {
        const keys = at(0).keys()
        return meeting(
          command.hops,
          keys.map((key) => ({ index: 0, key })),
        )
      }
      case 'during':
        return during(command)
      case 'waiting':
        return waiting(command)
      case 'pass':
        for (let time = 0; time < command.times; time += 1) await passOf(command.process, command.ms)
        return
    }
  }

  return {
    around,
    oracle,
    processes,
    lines,
    get daemons() {
      return daemons
    },
    play,
    async calm() {
      platform.calm()
      for (const process of processes) process.ledger.calm()
      secrets.mounted.set('kafka/password', secrets.mounted.get('kafka/password') ?? 'first')
      sight.show()
      ground.mend()
      for (const line of lines) line.flaw = undefined
      // The clock may have been set back by hours since a suspension was written.
      await clock.advance(Math.max(0, ...lines.map((line) => (line.suspendedUntil ?? 0) - clock.now())))
      for (let readings = 0; readings < 4; readings += 1) await edited(lineAt(0), () => undefined)
    },
    pass: (ms) => passOf(0, ms),
  }
}
