import { undecidedIntent } from '../../src/plan/outcome-unknown.ts'
import type { ChangeStep } from '../../src/plan/action.ts'
import {
  AGAIN_MS,
  areTablesAsAsked,
  isAsAsked,
  isSame,
  lives,
  valuesIn,
  valuesOf,
  wishOfPipe,
  type Life,
  type Table,
} from './life.ts'
import { keyOfWish, shortId, SECOND, type Model, type Pipe, type Wish } from './model.ts'
import { judgeRemoved } from './removal-laws.ts'
import type { Run } from './run.ts'

/* What may never be of a pipe that exists, on a service that lists and changes pipes. */

interface Sent {
  readonly way: ChangeStep['way']
  readonly text: string
}

/** A change is about to go out: the manifests of this moment have to ask for it. */
export function judgeChange(run: Run, pipe: Pipe, sent: Sent): void {
  const { life } = pipe
  if (life === undefined) return
  const fault =
    sent.way === 'state' ? stateFault(run.model, pipe, life, sent) : faultOf(run.model, pipe, life, sent)
  if (fault !== undefined)
    run.broken.push(`Pipe ${shortId(pipe.id)} is sent ${sent.way} ${sent.text}, ${fault}.`)
}

/** The manifest that says what is to be done now. */
function inForce(model: Model, pipe: Pipe): Wish | undefined {
  const wish = wishOfPipe(model, pipe)
  return wish === undefined || wish.isSuspended || wish.isFlawed === true ? undefined : wish
}

export function isInForce(model: Model, pipe: Pipe): boolean {
  return inForce(model, pipe) !== undefined
}

function faultOf(model: Model, pipe: Pipe, life: Life, { way, text }: Sent): string | undefined {
  const wish = inForce(model, pipe)
  if (wish === undefined) return 'and no valid manifest asks for anything'
  const wanted = { ...valuesOf(wish), password: model.password }
  const { tablesToAdd = [], tablesToRemove = [], ...asked } = valuesIn(text)
  const ofTables = tablesFault(life, wish, tablesToAdd, tablesToRemove)
  if (ofTables !== undefined) return ofTables
  for (const [name, value] of Object.entries(asked))
    if (wanted[name as keyof typeof wanted] !== value)
      return `and the manifest does not say so of its ${name}`
  if (wanted.table !== life.live.table)
    return 'and its manifest asks for a table, too, which no request changes'
  const isSeen = isSame(life.told, life.live)
  const isConfirmed = life.confirmed?.password === model.password
  if (isSeen && isAsAsked(life, wish) && isConfirmed) return 'and it was seen to be as its manifest says'
  const isKnownToRest = isSeen && life.rest === 'person' && life.live.state === 'Stopped'
  if (isKnownToRest && way === 'update' && wish.isPaused === undefined)
    return 'which starts it, and a person has stopped it'
  if (life.isDrift && wish.policy['onDrift'] !== 'correct')
    return 'and only a person in the console has changed it'
  return vainFault(model, life, `${way} ${text}`)
}

/** Nothing is added that is there, and nothing removed that is asked for: the one copies a table twice, the other loses it. */
function tablesFault(
  { told, live, isUnread }: Life,
  { tables = [] }: Wish,
  tablesToAdd: readonly Table[],
  tablesToRemove: readonly Table[],
): string | undefined {
  const isThere = (table: Table) => isSame(told, live) && live.tables?.some(({ name }) => name === table.name)
  if (isUnread && tablesToAdd.length + tablesToRemove.length > 0)
    return 'and nothing was read since tables were asked for'
  const unasked = tablesToAdd.find((table) => !isIn(tables, table))
  if (unasked !== undefined) return `and the manifest does not ask for table ${unasked.name}`
  const twice = tablesToAdd.find((table) => isThere(table))
  if (twice !== undefined) return `and table ${twice.name} was seen to be there`
  const asked = tablesToRemove.find(
    (table) => isIn(tables, table) && isIn(live.tables, table) && isSame(told, live),
  )
  return asked === undefined ? undefined : `and the manifest asks for table ${asked.name}`
}

function isIn(tables: readonly Table[] | undefined, { name, how }: Table): boolean {
  return tables?.some((each) => each.name === name && each.how === how) === true
}

function vainFault({ now }: Model, { vain }: Life, what: string): string | undefined {
  const isAgain = vain !== undefined && vain.what === what && now - vain.at < AGAIN_MS
  return isAgain ? 'which was in vain less than an hour ago' : undefined
}

function stateFault(model: Model, pipe: Pipe, life: Life, { text }: Sent): string | undefined {
  const { command } = JSON.parse(text) as { readonly command: 'start' | 'stop' } // ours
  const wish = inForce(model, pipe)
  const isSeen = isSame(life.told, life.live)
  if (command === 'start') {
    if (wish?.isPaused === true) return 'and its manifest wants it to rest'
    if (wish?.isPaused === false || life.rest === undefined || life.isOurs) return undefined
    const isFree = life.rest === 'us' || life.rest === 'either'
    return isFree ? undefined : `and it was a ${life.rest} that stopped it`
  }
  if (wish === undefined) return 'and no valid manifest asks for anything'
  if (isSeen && life.live.state === 'Stopped') return 'and it was seen to rest'
  if (wish.isPaused === true) return undefined
  const isThere = life.live.brokers === valuesOf(wish).brokers && areTablesAsAsked(life.live, wish)
  if (isSeen && isThere) return 'and nothing needs that'
  if (life.isDrift && wish.policy['onDrift'] !== 'correct')
    return 'and only a person in the console has changed it'
  return /brokers|tables/.test(life.vain?.what ?? '') &&
    life.vain !== undefined &&
    model.now - life.vain.at < AGAIN_MS
    ? 'and it was stopped for this in vain less than an hour ago'
    : undefined
}

/**
 * A listed pipe may be adopted if one wish has its name, no record holds it, and nothing differs. Or the undecided attempt of a key made it:
 * then the manifest can differ by now.
 */
export function noteListed({ model }: Run, listed: readonly Pipe[]): void {
  const records = [...model.records.values()]
  const held = new Set(records.map(({ remote }) => remote?.id))
  const attempts = new Set(records.map((record) => undecidedIntent(record)?.id))
  for (const { id, name, life, intentId } of listed) {
    const wish = model.wishes.find((each) => each.isPresent && (each.platformName ?? each.name) === name)
    if (held.has(id)) continue
    const others = listed.filter((each) => each.name === name && !held.has(each.id))
    const isMeant =
      (intentId !== undefined && attempts.has(intentId)) || (life && wish && isAsAsked(life, wish))
    if (wish !== undefined && others.length === 1 && isMeant) model.saidPipe.add(id)
    else model.saidPipe.delete(id)
  }
}

/** Whether a list shows it under the name of one manifest, which may have been edited since the list, and as that asks for it. */
export function isAloneAsAsked({ model, world }: Run, pipeId: string): boolean {
  const pipe = model.pipes.find(({ id }) => id === pipeId)
  const wish = model.wishes.find((each) => each.isPresent && (each.platformName ?? each.name) === pipe?.name)
  const others = model.pipes.filter(({ name }) => name === pipe?.name)
  const isMeant = pipe?.life !== undefined && wish !== undefined && isAsAsked(pipe.life, wish)
  return world.profile !== undefined && others.length === 1 && isMeant
}

/** So old a list may be that a create depends on. */
const LIST_AGE_MS = 10 * SECOND
/** So long a pipe may be missing in a list. */
const LISTED_AFTER_MS = 60 * SECOND

/** A create is about to go out: a list would show no pipe of its name that nobody holds. */
export function judgeBeside({ model, world, broken }: Run, pipe: Pipe): void {
  if (world.profile === undefined) return
  const held = new Set(
    [...model.records.values()].flatMap(({ remote, former }) => [remote?.id, former?.remote.id]),
  )
  const since = model.now - LIST_AGE_MS - LISTED_AFTER_MS
  const lags = world.faults.includes('list lags')
  const beside = model.pipes.find(
    ({ id, name, serviceId, madeAt, view, isDenied }) =>
      name === pipe.name &&
      serviceId === pipe.serviceId &&
      !held.has(id) &&
      view === 'seen' &&
      // The list before the next attempt begins after this one.
      (madeAt <= since || (isDenied === true && !lags)),
  )
  if (beside !== undefined)
    broken.push(`A create of "${pipe.name}" goes out beside pipe ${shortId(beside.id)}, which a list shows.`)
}

/** A look is over, and its process lives: what it sent in vain, or with which password, is known. */
export function keepSent({ model }: Run): void {
  for (const pipe of model.pipes) {
    const { vain, confirmed } = pipe.life ?? {}
    if (vain?.isKept === false) lives(pipe, { vain: { ...vain, isKept: true } })
    if (confirmed?.isKept === false) lives(pipe, { confirmed: { ...confirmed, isKept: true } })
  }
}

/** In the end, when nothing fails any more: what we stopped runs again, and what can be changed is as it is asked for. */
export function judgeEnd(model: Model): readonly string[] {
  const unlikeAsked = model.pipes.flatMap((pipe) => {
    const { life } = pipe
    if (life === undefined) return []
    const wish = wishOfPipe(model, pipe)
    if (life.rest === 'us' && wish?.isPaused !== true)
      return [
        `In the end pipe ${shortId(pipe.id)} is ${life.live.state}, and nobody but Pipewright has stopped it.`,
      ]
    const said = inForce(model, pipe)
    return said === undefined || said.policy['ensure'] === 'absent' ? [] : unlike(model, pipe, life, said)
  })
  return [...unlikeAsked, ...judgeRemoved(model)]
}

function unlike(model: Model, pipe: Pipe, life: Life, wish: Wish): readonly string[] {
  const { id } = pipe
  const { isPaused } = wish
  const { state } = life.live
  const key = keyOfWish(wish)
  if (isPaused === true && state !== 'Stopped')
    return [`In the end pipe ${shortId(id)} is ${state}, though ${key} is paused.`]
  if (isPaused === false && state !== 'Running')
    return [`In the end pipe ${shortId(id)} is ${state}, and ${key} is not paused.`]
  const isDrift = life.live.topics.startsWith('by-hand') && wish.policy['onDrift'] !== 'correct'
  const isLeft =
    isDrift || life.live.table !== valuesOf(wish).table || (state !== 'Running' && isPaused === undefined)
  if (!isLeft && isPasswordOld(model, pipe, life))
    return [
      `In the end pipe ${shortId(id)} has an old password, and no request with the new one was answered.`,
    ]
  return isLeft || isAsAsked(life, wish)
    ? []
    : [`In the end pipe ${shortId(id)} is ${JSON.stringify(life.live)}, which is not what ${key} says.`]
}

/** No reading shows a password: nobody can know what one has that a person made, or that was answered and not taken. */
function isPasswordOld({ password }: Model, { wish }: Pipe, { live, confirmed }: Life): boolean {
  return wish !== undefined && live.password !== password && confirmed?.password !== password
}

/** Whether there is anything to wait for in the end. */
export function isUnended(model: Model): boolean {
  return judgeEnd(model).length > 0
}
