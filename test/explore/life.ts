import { sameId } from '../../src/lib/same-id.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { pipeBodyOf } from '../reconcile/manifests.ts'
import { keyOfWish, MINUTE, SECOND, type Model, type Pipe, type Wish } from './model.ts'

/* What becomes of a pipe that exists, on a service that changes, starts and stops pipes. */

export interface Table {
  readonly name: string
  /** One that is to be copied in another way is removed, and added again. */
  readonly how: string
}

/** What a pipe is made of; of each sort of field one. */
export interface Values {
  readonly topics: string
  readonly brokers: string
  readonly replicas: number
  /** Never changed. */
  readonly table: string
  /** Added and removed one by one, while the pipe rests; in the order of their names. */
  readonly tables?: readonly Table[]
  /** Never shown. */
  readonly password: string | undefined
}

export type RunState = 'Running' | 'Stopping' | 'Stopped' | 'Deleting'

interface Live extends Values {
  readonly state: RunState
}

/** A value: whoever changes something of it makes another one. */
export interface Life {
  readonly live: Live
  /** What a reply may still show, and since when it is no longer so. */
  readonly before: { readonly live: Live; readonly at: number } | undefined
  /** What the last reading showed. */
  readonly told: Live | undefined
  /** Who let it rest. `either`: we did, and then a manifest asked for it. */
  readonly rest: 'us' | 'person' | 'manifest' | 'either' | undefined
  /** Whether a person who stops it cannot be told from us: our stop is under way, or was never seen to be over. */
  readonly isOurs: boolean
  /** The last request that was answered and did nothing, or that was refused although we stopped it; nobody has edited anything since. */
  readonly vain: { readonly what: string; readonly at: number; readonly isKept: boolean } | undefined
  /** Whether tables were asked for, and nothing was read since: nothing is known of a second time. */
  readonly isUnread: boolean
  /** A person changed it when it was as its manifest says, and nobody has edited that since. */
  readonly isDrift: boolean
  /** The password in the last request that was answered, and whether the process that sent it lived until that was written. */
  readonly confirmed: { readonly password: string; readonly isKept: boolean } | undefined
}

/** For so long a reading may show what was there before a change, and a list a pipe not at all. */
export const LAG_MS = 60 * SECOND
/** What was sent in vain is not sent again for so long. */
export const AGAIN_MS = 60 * MINUTE

export const BROKER = 'b-1.example:9092'
export const OTHER_BROKER = 'b-2.example:9092'

export function valuesOf({
  topics,
  brokers = BROKER,
  replicas = 1,
  table = 'events',
  tables,
}: Wish): Omit<Values, 'password'> {
  return { topics, brokers, replicas, table, ...(tables !== undefined && { tables }) }
}

/** What a pipe of these values is, but for its name. */
export function bodyOfValues(name: string, values: Omit<Values, 'password'>): JsonObject {
  const body = pipeBodyOf(name, values)
  const { kafka } = body['source'] as { readonly kafka: JsonObject } // as manifests.ts has it
  const destination = body['destination'] as JsonObject // likewise
  return {
    ...body,
    source: { kafka: { ...kafka, brokers: values.brokers } },
    destination: { ...destination, table: values.table },
    ...(values.tables !== undefined && { tables: values.tables.map((table) => ({ ...table })) }),
  }
}

export function born(values: Values): Life {
  return {
    live: { ...values, state: 'Running' },
    before: undefined,
    told: undefined,
    rest: undefined,
    isOurs: false,
    vain: undefined,
    isUnread: false,
    isDrift: false,
    confirmed: undefined,
  }
}

/** The manifest in force for a pipe, as its record says. */
export function wishOfPipe(model: Model, { id }: Pick<Pipe, 'id'>): Wish | undefined {
  const record = [...model.records.values()].find(({ remote }) => sameId(remote?.id, id))
  return model.wishes.find((wish) => wish.isPresent && keyOfWish(wish) === record?.key)
}

export function lives(pipe: Pipe, next: Partial<Life>): void {
  if (pipe.life !== undefined) pipe.life = { ...pipe.life, ...next }
}

/** Something of it is another now. */
export function changes(model: Model, pipe: Pipe, next: Partial<Live>): void {
  const { life } = pipe
  if (life === undefined) return
  lives(pipe, { live: { ...life.live, ...next }, before: { live: life.live, at: model.now } })
}

/** It rests, or runs again. @param rest who wants it so; undefined: it runs */
export function rests(model: Model, pipe: Pipe, rest: Life['rest'], isOurs: boolean): void {
  changes(model, pipe, { state: rest === undefined ? 'Running' : 'Stopping' })
  lives(pipe, { rest, isOurs })
}

export function comesToRest(model: Model, pipe: Pipe): void {
  if (pipe.life?.live.state === 'Stopping') changes(model, pipe, { state: 'Stopped' })
}

/** What a reading shows is known. */
export function told(pipe: Pipe, shown: Live): void {
  const { life } = pipe
  if (life === undefined) return
  // It was at rest, and runs again: whoever stops it next is somebody else.
  const isOver = life.told?.state === 'Stopped' && shown.state === 'Running' && isSame(shown, life.live)
  lives(pipe, { told: shown, isUnread: false, isOurs: life.isOurs && !isOver })
}

export function isSame(one: Live | undefined, other: Live | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** What may still be shown of a pipe. */
export function shownBefore(model: Model, { life }: Pipe): Live | undefined {
  return life?.before !== undefined && model.now - life.before.at < LAG_MS ? life.before.live : undefined
}

/** Whether it is as its manifest says, as far as it can be seen. */
export function isAsAsked({ live }: Life, wish: Wish): boolean {
  const { topics, brokers, replicas, table } = valuesOf(wish)
  const isAlike = live.topics === topics && live.replicas === replicas && live.table === table
  return isAlike && live.brokers === brokers && areTablesAsAsked(live, wish)
}

export function areTablesAsAsked({ tables }: Pick<Values, 'tables'>, wish: Pick<Wish, 'tables'>): boolean {
  return JSON.stringify(tables) === JSON.stringify(wish.tables)
}

/** For at most so long it takes until a pipe is deleted. */
const DELETING_MS = 3 * MINUTE

export function vanishes(model: Model, pipe: Pipe): void {
  model.pipes = model.pipes.filter((each) => each !== pipe)
  model.ghosts.push(pipe)
}

export function timePassed(model: Model, ms: number): void {
  if (ms > DELETING_MS) model.pipes = model.pipes.filter(({ life }) => life?.live.state !== 'Deleting')
  model.ghosts = []
  for (const pipe of model.pipes) comesToRest(model, pipe)
  for (const pipe of model.pipes)
    if (pipe.life?.before !== undefined && shownBefore(model, pipe) === undefined)
      lives(pipe, { before: undefined })
}

/** Whether a manifest that is there, is valid and is not suspended asks for the deletion of its pipe. */
export function asksForDeletion({ isFlawed, isSuspended, policy }: Wish): boolean {
  const isInForce = isFlawed !== true && !isSuspended
  return isInForce && (policy['ensure'] === 'absent' || policy['onImmutable'] === 'replace')
}

export function noteEdited({ wishes, askedAt, now }: Model): void {
  for (const [index, wish] of wishes.entries()) if (asksForDeletion(wish)) askedAt[index] ??= now
}

/** Somebody edited a manifest, or a secret. */
export function edited(model: Model): void {
  noteEdited(model)
  for (const pipe of model.pipes) {
    const { life } = pipe
    if (life === undefined) continue
    lives(pipe, { vain: undefined, isDrift: false })
    if (life.rest === 'us' && wishOfPipe(model, pipe)?.isPaused === true) lives(pipe, { rest: 'either' })
  }
}

interface AskedFor extends Partial<Omit<Values, 'tables'>> {
  readonly tablesToAdd?: readonly Table[]
  readonly tablesToRemove?: readonly Table[]
}

export function valuesIn(text: string): AskedFor {
  const body = JSON.parse(text) as Pick<AskedFor, 'replicas' | 'tablesToAdd' | 'tablesToRemove'> & {
    readonly source?: {
      readonly kafka: {
        readonly topics?: string
        readonly brokers?: string
        readonly credentials?: { readonly password: string }
      }
    }
  } // ours
  const { source, replicas, tablesToAdd, tablesToRemove } = body
  const { topics, brokers, credentials } = source?.kafka ?? {}
  return {
    ...(topics !== undefined && { topics }),
    ...(brokers !== undefined && { brokers }),
    ...(credentials !== undefined && { password: credentials.password }),
    ...(replicas !== undefined && { replicas }),
    ...(tablesToAdd !== undefined && { tablesToAdd }),
    ...(tablesToRemove !== undefined && { tablesToRemove }),
  }
}

/** What is there once a change was done. */
export function withAsked(
  live: Values,
  { tablesToAdd = [], tablesToRemove = [], ...asked }: AskedFor,
): Partial<Values> {
  if (live.tables === undefined) return asked
  const removed = new Set(tablesToRemove.map(({ name }) => name))
  const kept = live.tables.filter(({ name }) => !removed.has(name))
  const tables = [...kept, ...tablesToAdd].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return { ...asked, tables }
}

export function isDoneAtRest({ brokers, tablesToAdd, tablesToRemove }: AskedFor): boolean {
  return brokers !== undefined || tablesToAdd !== undefined || tablesToRemove !== undefined
}
