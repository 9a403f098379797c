import type { Key } from '../../src/kinds/key.ts'
import { keyOf } from '../../src/kinds/key.ts'
import { undecidedIntent } from '../../src/plan/outcome-unknown.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { adoptAs } from '../../src/reconcile/person-adopt.ts'
import { forgetKey } from '../../src/reconcile/person-forget.ts'
import { recreatePipe } from '../../src/reconcile/person-recreate.ts'
import { retryCreate } from '../../src/reconcile/person-retry.ts'
import type { Answer, PersonDeps } from '../../src/reconcile/person.ts'
import type { Surroundings } from '../reconcile/given.ts'
import { pipeBodyOf } from '../reconcile/manifests.ts'
import type { Command } from './commands.ts'
import type { Ground } from './ground.ts'
import type { Line } from './lines.ts'
import { identityOf, nameOfLine } from './lines.ts'
import type { Oracle } from './oracle.ts'
import { topicsOf } from './sight.ts'

const PERSON = ['adopt', 'approve', 'recreate', 'lock', 'forget'] as const

/** Something that a person says. */
export type Word = Command & { readonly type: (typeof PERSON)[number] }

export function isWord(command: Command): command is Word {
  return PERSON.some((type) => type === command.type)
}

/** Says a person's words, in Git or at the shell, true or not, and tells the oracle. */
export interface Persons {
  say(word: Word): Promise<void>
}

export interface PersonsParts {
  readonly around: Surroundings
  readonly oracle: Oracle
  readonly ground: Ground
  readonly lineAt: (index: number) => Line
  readonly deps: () => PersonDeps
  /** Changes a manifest, and has it read. */
  readonly edited: (line: Line, change: (line: Line) => void) => Promise<void>
  /** Has the directory read. */
  readonly read: () => Promise<void>
  /** Waits for what is said at the shell. @returns undefined when the process died of it, or the disk failed */
  readonly answered: (word: Promise<Answer>) => Promise<Answer | undefined>
}

const never = new AbortController().signal

export function createPersons(parts: PersonsParts): Persons {
  const { around, oracle, ground, lineAt, deps, edited, read, answered } = parts
  const { platform, ledger } = around
  const { words } = oracle

  async function recordOf(line: Line): Promise<LedgerRecord | undefined> {
    return ledger.get(keyOfLine(line))
  }

  /** After such a word, a second pipe is no fault of the program's. */
  function excuse(line: Line): void {
    words.excused.add(identityOf(line))
  }

  async function adopt({ line: index, which, by }: Word & { readonly type: 'adopt' }): Promise<void> {
    const line = lineAt(index)
    const pipeId = await toAdopt(line, which)
    if (pipeId === undefined) return
    if (by === 'policy') return edited(line, (changed) => (changed.adopt = pipeId))
    const word = which === 'own' ? 'resolve' : 'adopt'
    await answered(adoptAs(deps(), { key: keyOfLine(line), pipeId, word }, never))
  }

  async function toAdopt(line: Line, which: 'own' | 'stray'): Promise<string | undefined> {
    const intent = undecidedIntent((await recordOf(line)) ?? { intent: undefined })
    const own = platform.posts.find(({ intentId }) => intentId === intent?.id)?.pipeId
    const pipeId = which === 'own' ? own : stray(line)
    if (pipeId !== undefined) words.adopt.add(pipeId)
    return pipeId
  }

  /** A pipe that somebody made in the console, like the one that the manifest asks for. */
  function stray(line: Line): string {
    excuse(line)
    const body = { name: nameOfLine(line), ...pipeBodyOf(nameOfLine(line), { topics: identityOf(line) }) }
    return platform.make(ground.serviceIdOf(line), body)
  }

  async function lockTo(line: Line, which: 'own' | 'stray' | 'none'): Promise<void> {
    const id = which === 'own' ? (await recordOf(line))?.pipe?.id : undefined
    const pipeId = which === 'stray' ? stray(line) : id
    if (pipeId === undefined) ground.locks.delete(line.index)
    else {
      words.adopt.add(pipeId)
      ground.locks.set(line.index, pipeId)
    }
    ground.write()
    return read()
  }

  async function approve({ line: index, by }: Word & { readonly type: 'approve' }): Promise<void> {
    const line = lineAt(index)
    const intent = undecidedIntent((await recordOf(line)) ?? { intent: undefined })
    if (intent === undefined) return
    words.retry.add(intent.id)
    if (platform.posts.some(({ intentId, pipeId }) => intentId === intent.id && pipeId !== undefined))
      excuse(line)
    if (by === 'policy') return edited(line, (changed) => (changed.retryCreate = intent.id))
    const force = by === 'force'
    if (force) words.forced.add(intent.id)
    await answered(retryCreate(deps(), keyOfLine(line), { force }))
  }

  async function recreate({ line: index, by }: Word & { readonly type: 'recreate' }): Promise<void> {
    const line = lineAt(index)
    const { pipe } = (await recordOf(line)) ?? {}
    if (pipe === undefined) return
    if (by === 'policy') {
      if (platform.pipes.has(pipe.id)) excuse(line)
      return edited(line, (changed) => (changed.recreate = pipe.id))
    }
    const exists = platform.pipes.has(pipe.id)
    const answer = await answered(recreatePipe(deps(), keyOfLine(line), never))
    if (exists && answer?.result !== 'refused') excuse(line)
  }

  async function forget(line: Line): Promise<void> {
    const key = keyOfLine(line)
    const left = [...platform.pipes.values()].some(({ body }) => topicsOf(body) === identityOf(line))
    words.forgot.add(key)
    const answer = await answered(forgetKey(deps(), key))
    words.forgot.delete(key)
    if (left && answer?.result !== 'refused') excuse(line)
  }

  return {
    say(word) {
      switch (word.type) {
        case 'adopt':
          return adopt(word)
        case 'approve':
          return approve(word)
        case 'recreate':
          return recreate(word)
        case 'lock':
          return lockTo(lineAt(word.line), word.which)
        case 'forget':
          return forget(lineAt(word.line))
      }
    },
  }
}

function keyOfLine(line: Line): Key {
  return keyOf('Pipe', nameOfLine(line))
}
