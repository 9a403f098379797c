import { keyOf } from '../../src/kinds/key.ts'
import type { ParsedFile } from '../../src/manifest/parse-file.ts'
import type { Answer } from '../../src/reconcile/person.ts'
import { LedgerError } from '../../src/reconcile/ports.ts'
import type { Process, Surroundings } from '../reconcile/given.ts'
import { createSurroundings, ended } from '../reconcile/given.ts'
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
import { createTurns } from './turns.ts'

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
  const sight = createSight(clock)
  const ground = createGround(directory.files, lines)
  const oracle = createOracle({ platform, clock, sight })
  ground.write()
  platform.obstacles = {
    ...sight,
    posted(post, owner) {
      const { excused } = oracle.words
      const { daemons } = turns
      const moment = { platform, clock, secrets, ground, lines, daemons, excused }
      for (const violation of judgePost(post, owner, moment)) oracle.blame(violation)
    },
  }
  const turns = await createTurns(around)
  const at = (index: number) => turns.at(index)
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

  function lineAt(index: number): Line {
    const line = lines[index]
    if (line === undefined) throw new Error(`there is no line ${index}`)
    return line
  }

  /** A create that takes its time, and what happens meanwhile. */
  async function during({ line, meanwhile }: Command & { readonly type: 'during' }): Promise<void> {
    await turns.slowly('create', keyOf('Pipe', nameOfLine(lineAt(line))), () => play(meanwhile))
  }

  /** A create that waits for its permit, and what happens meanwhile. */
  async function waiting({ line, ms, meanwhile }: Command & { readonly type: 'waiting' }): Promise<void> {
    const key = keyOf('Pipe', nameOfLine(lineAt(line)))
    await turns.slowly('admit', key, async () => {
      for (const command of meanwhile) await play(command)
      await clock.advance(ms)
    })
  }

  /** The directory after a change, read by both; whoever changed has a turn in the first process. */
  async function edited(line: Line, change: (line: Line) => void): Promise<void> {
    change(line)
    ground.write()
    await reading()
  }

  async function reading(): Promise<void> {
    at(1).read()
    for (const key of at(0).read()) await turns.turns(0, key)
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
    if (outcome === undefined) await turns.restart(0)
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
        return turns.restart(command.process)
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
        return turns.turns(command.process, keyOf('Pipe', nameOfLine(lineAt(command.line))))
      case 'both': {
        const key = keyOf('Pipe', nameOfLine(lineAt(command.line)))
        return turns.meeting(command.hops, [
          { index: 0, key },
          { index: 1, key },
        ])
      }
      case 'together': {
        const keys = at(0).keys()
        return turns.meeting(
          command.hops,
          keys.map((key) => ({ index: 0, key })),
        )
      }
      case 'during':
        return during(command)
      case 'waiting':
        return waiting(command)
      case 'pass':
        for (let time = 0; time < command.times; time += 1) await turns.pass(command.process, command.ms)
        return
    }
  }

  return {
    around,
    oracle,
    processes: turns.processes,
    lines,
    get daemons() {
      return turns.daemons
    },
    play,
    async calm() {
      platform.calm()
      for (const process of turns.processes) process.ledger.calm()
      secrets.mounted.set('kafka/password', secrets.mounted.get('kafka/password') ?? 'first')
      sight.show()
      ground.mend()
      for (const line of lines) line.flaw = undefined
      // The clock may have been set back by hours since a suspension was written.
      await clock.advance(Math.max(0, ...lines.map((line) => (line.suspendedUntil ?? 0) - clock.now())))
      for (let readings = 0; readings < 4; readings += 1) await edited(lineAt(0), () => undefined)
    },
    pass: (ms) => turns.pass(0, ms),
  }
}
