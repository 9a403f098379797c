import { CREATE_FAILPOINTS, type CreateFailpoint } from '../../../src/contract/failpoint.ts'
import type { PodCell, Trouble } from './pod-cells.ts'
import type { Count, PodFacts } from './pod-experiment.ts'

/** What the victim must show in the end; `either`: it is decided by who is quicker. */
export type PodFate = 'Ready' | 'OutcomeUnknown' | 'either'

/** What each trouble does to the process that stands still. */
const WHAT: Readonly<Record<Trouble, { readonly does: Does; readonly ends: readonly string[] | 'maybe' }>> = {
  'kill -9': { does: 'kills it', ends: ['one: SIGKILL'] },
  'frozen for three leases': { does: 'makes it late', ends: ['one: 1'] },
  'cut off from the API': { does: 'lets it go on', ends: ['one: 1'] },
  'silence between it and the API': { does: 'lets it go on', ends: ['one: 1'] },
  'cut off from the platform': { does: 'loses the reply', ends: [] },
  'silence between it and the platform': { does: 'loses the reply', ends: [] },
  'the API server killed, and back': { does: 'lets it go on', ends: 'maybe' },
  SIGTERM: { does: 'lets it go on', ends: ['one: 0'] },
  'both killed, and started again': { does: 'kills it', ends: ['one: SIGKILL', 'two: SIGKILL'] },
  'frozen, its clock an hour ahead': { does: 'makes it late', ends: ['one: 1'] },
  'frozen, its clock an hour behind': { does: 'makes it late', ends: ['one: 1'] },
  'frozen, its clocks twice as fast': { does: 'makes it late', ends: ['one: 1'] },
  'frozen, the clocks of the other twice as fast': { does: 'makes it late', ends: ['one: 1'] },
}

type Does = 'kills it' | 'makes it late' | 'loses the reply' | 'lets it go on'

export function podFateOf({ at, reply, trouble }: PodCell): PodFate {
  if (reply !== 'answered') return 'OutcomeUnknown'
  const isAt = (first: CreateFailpoint, last: CreateFailpoint) => isBetween(at, first, last)
  // The id is durable.
  if (isAt('after-id', 'after-outcome')) return 'Ready'
  switch (WHAT[trouble].does) {
    case 'kills it':
      return at === 'before-intent' ? 'Ready' : 'OutcomeUnknown'
    case 'makes it late':
      // It is sent in time, or the other one creates it. On its way, its time may be over before anything else is seen.
      return isAt('after-connect', 'after-reply-head') ? 'either' : 'Ready'
    case 'loses the reply':
      return isAt('after-reply-body', 'before-id') ? 'Ready' : 'either'
    case 'lets it go on':
      return 'Ready'
  }
}

function isBetween(at: CreateFailpoint, first: CreateFailpoint, last: CreateFailpoint): boolean {
  const place = CREATE_FAILPOINTS.indexOf(at)
  return place >= CREATE_FAILPOINTS.indexOf(first) && place <= CREATE_FAILPOINTS.indexOf(last)
}

/** What is broken, in words; nothing, when all is well. */
export function brokenCell(cell: PodCell, facts: PodFacts): readonly string[] {
  const { counts, ended, epoch, stopped, metric, isLogged, postsOnceQuiet } = facts
  const faults: string[] = []
  const expectThat = (holds: boolean, words: string) => {
    if (!holds) faults.push(words)
  }
  for (const [name, count] of Object.entries(counts)) faults.push(...brokenCount(name, count))
  const { victim, before, after } = counts
  for (const [name, count] of Object.entries({ before, after }))
    expectThat(count.shown?.status === 'Ready', `${name} is ${count.shown?.status}`)
  expectThat(postsOnceQuiet === 0, `${postsOnceQuiet} creates when all was quiet`)

  const fate = podFateOf(cell)
  const status = victim.shown?.status
  expectThat(fate === 'either' || status === fate, `it must be ${fate}, and is ${status}`)
  if (status === 'OutcomeUnknown') {
    const message = victim.shown?.message ?? ''
    expectThat(message.includes('pipewright resolve Pipe/victim'), `the page says no way out: ${message}`)
    expectThat(isLogged, 'no log tells of the unknown outcome')
  }
  const unknown = status === 'OutcomeUnknown' ? '1' : '0'
  expectThat(metric === unknown, `the metric counts ${metric} unknown outcomes, not ${unknown}`)

  const { ends } = WHAT[cell.trouble]
  const isAsMeant = ends === 'maybe' || ends.every((end, nth) => ended[nth] === end)
  expectThat(isAsMeant, `the processes ended otherwise: ${ended.join(', ')}`)
  expectThat(ends.length === 0 || ends === 'maybe' || epoch >= 2, 'nobody has taken over')
  expectThat(
    stopped.every((code) => code === 0),
    `told to end, they ended with ${stopped.join(', ')}`,
  )
  return faults
}

/** One pipe at most, of which somebody knows, or is told. */
function brokenCount(name: string, { posts, pipes, shown, shownThere }: Count): readonly string[] {
  const { status, pipeId } = shown ?? {}
  const isKnown = status === 'Ready' && pipes.length === 1 && pipeId === pipes[0]
  const isTold = status === 'OutcomeUnknown' && pipeId === undefined
  return [
    ...(posts <= 1 ? [] : [`${name} was sent ${posts} times`]),
    ...(pipes.length <= 1 ? [] : [`there are ${pipes.length} pipes ${name}`]),
    ...(isKnown || isTold
      ? []
      : [`${name} is ${status}, with the id ${pipeId}, and there is ${pipes.join(', ')}`]),
    ...(shownThere?.status === status
      ? []
      : [`${name} is ${status}, and who stands by shows ${shownThere?.status}`]),
  ]
}
