import type { Key } from '../../src/kinds/key.ts'
import { keyOf } from '../../src/kinds/key.ts'
import type { ParsedFile } from '../../src/manifest/parse-file.ts'
import { undecidedIntent } from '../../src/plan/outcome-unknown.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { adoptAs } from '../../src/reconcile/person-adopt.ts'
import { forgetKey } from '../../src/reconcile/person-forget.ts'
import { retryCreate } from '../../src/reconcile/person-retry.ts'
import type { PersonDeps } from '../../src/reconcile/person.ts'
import type { Reconciled } from '../../src/reconcile/reconciled.ts'
import type { Process, Surroundings } from '../reconcile/given.ts'
import { createSurroundings, ended, endedOf, startProcess } from '../reconcile/given.ts'
import { endpoint, pipeBodyOf, service, SERVICE_ID } from '../reconcile/manifests.ts'
import type { Command } from './commands.ts'
import { LINES } from './commands.ts'
import { edit, isEdit } from './edits.ts'
import type { Line } from './lines.ts'
import { fileOf, nameOfLine, newLine, textOf } from './lines.ts'
import type { Oracle } from './oracle.ts'
import { createOracle } from './oracle.ts'

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

const never = new AbortController().signal

export async function begin(parsed: Map<string, ParsedFile>): Promise<Play> {
  const oracle = createOracle()
  const around: Surroundings = createSurroundings({
    parsed,
    onWritten: (written) => oracle.written(written, around.platform),
  })
  const { clock, platform, ledger, secrets, directory } = around
  const { files } = directory
  const lines = Array.from({ length: LINES }, (_, index) => newLine(index))
  const busy = new Set<Key>()
  let daemons: 1 | 2 = 1
  let hops = 0
  files.set('service.yaml', service())
  files.set('endpoint.yaml', endpoint('analytics'))
  for (const line of lines) files.set(fileOf(line), textOf(line, lines))
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

  /** A create that takes its time, and what happens meanwhile. */
  async function during({ line, meanwhile }: Command & { readonly type: 'during' }): Promise<void> {
    const key = keyOf('Pipe', nameOfLine(lineAt(line)))
    const { promise, resolve } = Promise.withResolvers<void>()
    platform.script('create', { type: 'slow', until: promise })
    const running = at(0).begin(key)
    busy.add(key)
    for (let hop = 0; hop < 200; hop += 1) await Promise.resolve()
    await play(meanwhile)
    resolve()
    await outcomesOf([{ index: 0, key }], [running])
    busy.delete(key)
  }

  /** A turn, and one of each key that it asks for. */
  async function turns(index: number, key: Key): Promise<void> {
    for (const other of await turn(index, key)) await turn(index, other)
  }

  async function passOf(index: number, ms: number): Promise<void> {
    for (const key of at(index).keys()) await turns(index, key)
    await clock.advance(ms)
  }

  /** The directory after a change, read by both; whoever changed has a turn in the first process. */
  async function edited(line: Line, change: (line: Line) => void): Promise<void> {
    files.delete(fileOf(line))
    change(line)
    for (const other of lines) {
      if (other.present) files.set(fileOf(other), textOf(other, lines))
      else files.delete(fileOf(other))
    }
    await reading()
  }

  async function reading(): Promise<void> {
    at(1).read()
    for (const key of at(0).read()) await turns(0, key)
  }

  async function recordOf(line: Line): Promise<LedgerRecord | undefined> {
    return ledger.get(keyOf('Pipe', nameOfLine(line)))
  }

  function personDeps(): PersonDeps {
    const { deps } = at(0)
    return { platform, ledger: deps.ledger, secrets, world: deps.world, clock }
  }

  async function say<T>(word: Promise<T>): Promise<void> {
    // A disk that fails says so to the person, who may try again.
    if (
      (await ended(
        clock,
        word.catch(() => 'failed'),
      )) === undefined
    )
      await restart(0)
  }

  async function adopt({ line: index, which, by }: Command & { readonly type: 'adopt' }): Promise<void> {
    const line = lineAt(index)
    const record = await recordOf(line)
    const intent = record && undecidedIntent(record)
    const own = platform.posts.find(
      ({ intentId, pipeId }) => intentId === intent?.id && pipeId !== undefined,
    )?.pipeId
    const stray = () => platform.make(SERVICE_ID, { name: nameOfLine(line), ...pipeBodyOf(nameOfLine(line)) })
    const pipeId = which === 'own' ? own : stray()
    if (pipeId === undefined) return
    oracle.words.adopt.add(pipeId)
    if (by === 'policy') return edited(line, (changed) => (changed.adopt = pipeId))
    const key = keyOf('Pipe', nameOfLine(line))
    await say(adoptAs(personDeps(), { key, pipeId, word: which === 'own' ? 'resolve' : 'adopt' }, never))
  }

  async function approve({ line: index, by }: Command & { readonly type: 'approve' }): Promise<void> {
    const line = lineAt(index)
    const record = await recordOf(line)
    const intent = record && undecidedIntent(record)
    if (intent === undefined) return
    oracle.words.retry.add(intent.id)
    if (by === 'policy') await edited(line, (changed) => (changed.retryCreate = intent.id))
    else await say(retryCreate(personDeps(), keyOf('Pipe', nameOfLine(line)), { force: false }))
  }

  async function play(command: Command): Promise<void> {
    if (isEdit(command)) {
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
        files.set('service.yaml', command.type === 'service-flaw' ? '{"kind": "Service"' : service())
        return reading()
      case 'crash':
        return restart(command.process)
      case 'jump':
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
        for (const line of command.lines)
          platform.pipes.delete((await recordOf(lineAt(line)))?.pipe?.id ?? '')
        return
      case 'change': {
        const pipe = platform.pipes.get((await recordOf(lineAt(command.line)))?.pipe?.id ?? '')
        if (pipe !== undefined) pipe.body = { ...pipe.body, scaling: { replicas: 9 } }
        return
      }
      case 'adopt':
        return adopt(command)
      case 'approve':
        return approve(command)
      case 'forget': {
        const key = keyOf('Pipe', nameOfLine(lineAt(command.line)))
        oracle.words.forgot.add(key)
        await say(forgetKey(personDeps(), key))
        oracle.words.forgot.delete(key)
        return
      }
      case 'turn':
        return turns(command.process, keyOf('Pipe', nameOfLine(lineAt(command.line))))
      case 'both': {
        hops = command.hops
        const key = keyOf('Pipe', nameOfLine(lineAt(command.line)))
        await turnsAtOnce([
          { index: 0, key },
          { index: 1, key },
        ])
        hops = 0
        return
      }
      case 'together': {
        hops = command.hops
        const keys = at(0).keys()
        await turnsAtOnce(keys.map((key) => ({ index: 0, key })))
        hops = 0
        return
      }
      case 'during':
        return during(command)
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
      files.set('service.yaml', service())
      for (const line of lines) line.flaw = undefined
      // The clock may have been set back by hours since a suspension was written.
      await clock.advance(Math.max(0, ...lines.map((line) => (line.suspendedUntil ?? 0) - clock.now())))
      for (let readings = 0; readings < 4; readings += 1) await edited(lineAt(0), () => undefined)
    },
    pass: (ms) => passOf(0, ms),
  }
}
