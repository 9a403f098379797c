import type { PipeInSandbox } from '../../../src/sandbox/stored.ts'
import type { Shown } from '../../support/process.ts'
import { lastRead, type Evidence } from './delete-judge.ts'
import { BROKERS } from './delete-person.ts'
import { topicIn } from './delete-pipes.ts'
import { topicOf, type Snapshot, type Wish } from './delete-tree.ts'

/* What has to be so when the person has stopped and all is calm. */

export interface End {
  readonly history: readonly Snapshot[]
  readonly lives: Evidence['lives']
  readonly pipes: readonly PipeInSandbox[]
  readonly shown: readonly Shown[]
}

/** Words of a status that say why a pipe is kept. */
const KEPT = /not deleted|Nothing is deleted|nobody knows whether its pipe was created/

/** Reasons that ask a person. */
const ASKS: ReadonlySet<string> = new Set(['RenameSuspected', 'Ambiguous', 'OutcomeUnknown'])

/** @returns what is not as it should be, in sentences */
export function faultsAtEnd({ history, lives, pipes, shown }: End): readonly string[] {
  const now = history.at(-1)
  if (now === undefined) return []
  const names = new Set(history.flatMap(({ wishes }) => [...wishes.values()].map(({ pipe }) => pipe)))
  return [...names].flatMap((name) => {
    const there = pipes.filter((pipe) => pipe.name === name)
    const ofName = lastWishes(history, name)
    const wish = [...now.wishes.values()].find((one) => one.pipe === name)
    const about = shown.filter(({ key }) => ofName.some((one) => key === `Pipe/${one.key}`))
    const said = about
      .map(({ key, status, reason, message }) => `${key}: ${status} ${reason}: ${message}`)
      .join('\n    ')
    const fault =
      wish === undefined
        ? faultOfGone(there.length, lastRead(name, { history, lives }), said)
        : faultOfWish(wish, there, about)
    return fault === undefined ? [] : [`${name}: ${fault}\n    ${said}`]
  })
}

function faultOfWish(
  wish: Wish,
  there: readonly PipeInSandbox[],
  about: readonly Shown[],
): string | undefined {
  const own = about.find(({ key }) => key === `Pipe/${wish.key}`)
  // A rename that nobody confirmed is for a person to settle, and so is a create whose pipe, by the platform's slower clock, is older.
  const isAsked = ASKS.has(own?.reason ?? '')
  const [only] = there
  if (there.length !== 1 || only === undefined)
    return isAsked && there.length === 0
      ? undefined
      : `it has ${there.length} pipes, and its manifest is there`
  const isAsAsked =
    topicIn(only) === topicOf(wish) && brokersIn(only) === BROKERS && replicasIn(only) === wish.replicas
  if (isAsAsked && own?.status !== 'Ready' && !isAsked) return 'it is as asked, and not ready'
  return isAsAsked || (own !== undefined && own.status !== 'Ready')
    ? undefined
    : 'it is not as asked, and said to be ready'
}

function faultOfGone(count: number, last: readonly Wish[], said: string): string | undefined {
  if (last.length === 0) return count === 0 ? undefined : `it has ${count} pipes, and no manifest was read`
  const isRight = last.some(({ onRemove }) =>
    onRemove === 'orphan' ? count === 1 : count === 0 || KEPT.test(said),
  )
  const policies = last.map(({ onRemove }) => onRemove).join(' or ')
  return isRight ? undefined : `it has ${count} pipes, and its manifest went with onRemove: ${policies}`
}

/** All that was ever asked for under this name, the newest last. */
function lastWishes(history: readonly Snapshot[], name: string): readonly Wish[] {
  return [
    ...new Set(history.flatMap(({ wishes }) => [...wishes.values()].filter(({ pipe }) => pipe === name))),
  ]
}

function brokersIn(body: object): string {
  const { source } = body as { source?: { kafka?: { brokers?: string } } } // all pipes here are of Kafka
  return source?.kafka?.brokers ?? ''
}

function replicasIn(body: object): number {
  const { scaling } = body as { scaling?: { replicas?: number } } // they have a size
  return scaling?.replicas ?? 0
}
