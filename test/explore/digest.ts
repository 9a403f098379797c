import { hash } from 'node:crypto'
import type { Key } from '../../src/kinds/key.ts'
import { retryFrom } from '../../src/plan/outcome-unknown.ts'
import type { Intent, LedgerRecord, Remote } from '../../src/plan/record.ts'
import { type Misses, replaceableFrom } from '../../src/plan/missing.ts'
import type { Observation } from '../../src/reconcile/state/store.ts'
import type { Listing } from '../../src/reconcile/state/listings.ts'
import { AGAIN_MS, isSame } from './life.ts'
import { podsText, unsavedText } from './pod-digest.ts'
import { SILENCE_MS } from './pods.ts'
import { GRACE_MS } from './removal-laws.ts'
import type { World } from './worlds.ts'
import { BEGIN, LISTING_MS, MINUTE, SECOND, isVisible, type Model, type Pipe, type Wish } from './model.ts'

/*
 * Situations that go on alike have the same digest: times are put in relation to now, and count up to where they make a
 * difference; ids are numbered in the order in which they appear; words that are only read by people are left out.
 */

const ALONE_MS = 15 * MINUTE
/** A little more than what ends a row of 404s. */
const GAP_MS = 3 * MINUTE + 1

export function digestOf(model: Model, world: World): string {
  return hash('sha1', textOf(model, world), 'base64')
}

export function textOf(model: Model, world: World): string {
  const records = [...model.records.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const steady = BEGIN + model.now
  const looks = new Map(model.memory.looks)
  const held = new Map(
    records.flatMap(({ remote: pipe, former }, index) => [
      [pipe?.id, index] as const,
      [former?.remote.id, index] as const,
    ]),
  )
  const pipes = inOrder(model, world, held)
  // How long a pipe was not found makes a difference where one is hidden: for that there is a limit.
  const hides = world.faults.includes('hides')
  const text = JSON.stringify([
    records.map((record) => recordText(record, steady, world)),
    [...looks.keys()].toSorted().map((key) => [key, lookOf(looks, key, model.now, world)]),
    // Where two processes act, nothing is hidden or gone: how old a pipe is makes no difference.
    model.pods === undefined && records.map(({ remote }) => ageOf(model, remote)),
    [...(model.copy?.values() ?? [])].map((record) => recordText(record, steady, world)),
    model.copy === undefined,
    model.restorable && [
      model.restorable.wishes.map(wishOf),
      [...model.restorable.records.values()].map((record) => recordText(record, steady, world)),
    ],
    model.memory.unsaved.map(unsavedText),
    [model.memory.knowsServices, model.isDiskFull, model.isPermitted, model.isServiceFlawed, model.password],
    [model.isIdle, model.isDiskGone, model.jumpedMs, model.hasSecond, model.isLockBroken],
    pipes.map((pipe) => pipeOf(pipe, model.now, hides)),
    hides && shownNowOf(model, pipes),
    model.late.map(({ pipe, before }) => [pipe.intentId, pipe.wish, Math.max(0, before - model.now)]),
    model.wishes.map((wish, index) => [wishOf(wish), graceOf(model, index)]),
    records.map(({ remote }) => isIn(model.deleted, remote?.id)),
    model.ghosts.map(({ id, name, life }) => [id, name, life?.live]),
    [model.endpoint, model.services, model.lock, model.isLockBroken],
    pipes.map(({ id, intentId }) => [
      isIn(model.hands, id),
      isIn(model.hands, intentId),
      isIn(model.saidGone, id),
    ]),
    records.map(({ intent }) => isIn(model.hands, intent?.id)),
    Object.entries(model.replacedAt).map(([wish, at]) => [wish, Math.min(model.now - at, 60 * MINUTE)]),
    model.pods && podsText(model, (record) => recordText(record, steady, world)),
    pipes.some(({ life }) => life !== undefined) && pipes.map((pipe) => lifeOf(model, world, pipe)),
    (model.memory.listings ?? [])
      .filter(([, { askedAt }]) => model.now - askedAt <= LISTING_MS)
      .map((listing) => listingOf(model, listing, looks, pipes)),
    writesOf(model),
  ])
  const numbers = new Map<string, string>()
  return text.replace(/[0a]0000000-0000-4000-8000-(\d{12})/g, (id) => {
    const number = numbers.get(id) ?? `#${numbers.size}`
    numbers.set(id, number)
    return number
  })
}

/** A write matters as long as a list is kept that began before it, or begins in the same moment. */
function writesOf({ memory: { writes = [], listings = [] }, now }: Model): unknown {
  const kept = listings.filter(([, { askedAt }]) => now - askedAt <= LISTING_MS)
  return writes
    .map(([key, at]) => [key, at === now, kept.map(([, { askedAt }]) => askedAt > at)] as const)
    .filter(([, isNow, isLater]) => isNow || isLater.includes(false))
}

/** Those that records hold first; of the others, the order in which they were made makes no difference. */
function inOrder(model: Model, world: World, held: ReadonlyMap<string | undefined, number>): readonly Pipe[] {
  if (model.pipes.length < 2) return model.pipes
  const { now } = model
  const placed = model.pipes.map((pipe) => {
    const place = held.get(pipe.id)
    if (place !== undefined) return { pipe, place, text: '' }
    const anonymous = { ...pipe, id: '', intentId: pipe.intentId === undefined ? undefined : '' }
    return {
      pipe,
      place: 99,
      text: JSON.stringify([
        pipeOf(anonymous, now, world.faults.includes('hides')),
        lifeOf(model, world, pipe),
      ]),
    }
  })
  return placed
    .toSorted((a, b) => a.place - b.place || (a.text < b.text ? -1 : Number(a.text > b.text)))
    .map(({ pipe }) => pipe)
}

/** What was shown at this very moment and cannot be read any more: of what is gone it makes no difference which it was. */
function shownNowOf(model: Model, pipes: readonly Pipe[]): unknown {
  const there = pipes.map((pipe) => !isVisible(model, pipe) && model.shownNow.has(pipe.id))
  const gone = [...model.shownNow].flatMap(([id, serviceId]) =>
    pipes.some((pipe) => pipe.id === id) ? [] : [serviceId],
  )
  return [there, [...new Set(gone)].toSorted()]
}

const wishes = new Map<string, string>()

/** Whatever the order in which its fields were written. */
function wishOf(wish: Wish): string {
  const asWritten = JSON.stringify(wish)
  const inOrderOfNames =
    wishes.get(asWritten) ?? JSON.stringify(Object.entries(wish).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  wishes.set(asWritten, inOrderOfNames)
  return inOrderOfNames
}

/** For how long a manifest asks for a deletion, up to where its pipe may be deleted. */
function graceOf({ askedAt, now }: Model, index: number): number | undefined {
  const at = askedAt[index]
  return at === undefined ? undefined : Math.min(now - at, GRACE_MS)
}

function isIn(ids: ReadonlySet<string>, id: string | undefined): boolean {
  return id !== undefined && ids.has(id)
}

/** Many situations of one moment share a record. */
const texts = new WeakMap<
  LedgerRecord,
  { readonly steady: number; readonly world: World; readonly text: string }
>()

function recordText(record: LedgerRecord, steady: number, world: World): string {
  const known = texts.get(record)
  if (known?.steady === steady && known.world === world) return known.text
  const text = JSON.stringify(recordOf(record, steady, world))
  texts.set(record, { steady, world, text })
  return text
}

function recordOf(record: LedgerRecord, steady: number, world: World): unknown {
  const {
    key,
    service,
    platformName,
    remote: pipe,
    former,
    replaced,
    intent,
    upsert,
    applied,
    backoff,
    change,
    command,
    corrections,
    conditions,
    removal,
    left,
    differences,
  } = record
  const from = replaceableFrom(replaced)
  return [
    key,
    service?.serviceId,
    platformName,
    pipe && recordedOf(pipe),
    former && [
      recordedOf(former.remote),
      former.platformName,
      former.applied?.digest,
      former.applied?.secrets,
    ],
    replaced && [replaced.count, replaced.id, from === undefined ? 0 : Math.max(0, from - steady)],
    intent && intentOf(intent, steady, world),
    upsert && [world.isShared !== true && Math.min(steady - upsert.at, 60 * MINUTE), upsert.reply],
    [applied?.digest, applied?.secrets],
    // Whoever may act tries that at once, and who waits for another checkout does nothing meanwhile.
    conditions?.Synced.reason !== 'NotLeading' &&
      backoff && [
        inSteps(Math.max(0, backoff.until - steady), world),
        backoff.digest === '' ? '' : hash('sha1', backoff.digest),
      ],
    change && [
      hash('sha1', change.digest),
      change.fields,
      change.isSent,
      change.refused,
      Math.min(steady - change.at, 60 * MINUTE),
    ],
    command && commandOf(command, steady),
    // Waits are hours long: half an hour more or less makes no other story.
    Object.entries(corrections ?? {}).map(([field, { count, at, before = at }]) => [
      field,
      Math.min(count, 4),
      ...[at, before].map((time) => Math.min(Math.floor((steady - time) / (30 * MINUTE)), 4)),
    ]),
    removal && [
      removal.digest,
      Math.min(steady - removal.since, GRACE_MS),
      removal.isSent && [Math.min(steady - (removal.sentAt ?? 0), GRACE_MS), removal.isAnswered],
    ],
    left?.digest,
    // Other words to write are one more place to die at.
    world.crashes && differences?.map(({ observed }) => observed),
    // What other commands and keys read of it.
    [conditions?.Synced.reason, conditions?.Ready.status],
  ]
}

/** A stop for a change can still take effect after ten minutes. */
function commandOf(
  { command, isForChange, at }: NonNullable<LedgerRecord['command']>,
  steady: number,
): unknown {
  const isLate = command === 'stop' && isForChange === true
  return [command, isForChange, Math.min(steady - at, isLate ? 10 * MINUTE : 60 * SECOND)]
}

/** Where all that goes by is one step, what goes by in between makes no difference. */
function inSteps(ms: number, { isShared = false }: World): number {
  return isShared ? Math.ceil(ms / SILENCE_MS) : ms
}

function recordedOf({ id, origin, seenAt, saidGoneAt, refutedAt }: Remote): unknown {
  return [id, origin, seenAt !== undefined, saidGoneAt !== undefined, refutedAt !== undefined]
}

function intentOf(intent: Intent, steady: number, world: World): unknown {
  const { words, isShared = false } = world
  const { id, state, seen, saidEarlyAt, openedAt, sendBy, endBy } = intent
  // What is settled is over, but for its name.
  if (state !== 'open' && state !== 'unknown') return [id, state]
  const left = Math.max(0, retryFrom(intent) - steady)
  const ends = Math.max(0, endBy - steady)
  // Nobody asks for more time there than there is.
  const times = isShared ? [words.includes('adopt') && inSteps(ends, world)] : [left, ends, openedAt - sendBy]
  return [id, state, seen?.pipeId, saidEarlyAt !== undefined, ...times]
}

/** What a look says, and of whose misses it is older or newer. */
function lookOf(looks: ReadonlyMap<Key, Observation>, key: Key, now: number, world: World): unknown {
  const look = looks.get(key)
  if (look === undefined) return undefined
  const { found, misses, readAt, state } = look
  const beside = [...looks].flatMap(([other, { misses: of }]) =>
    of === undefined || readAt === undefined || other === key || isOver(of, now, world)
      ? []
      : [[other, readAt > of.firstAt, readAt >= of.lastAt]],
  )
  const age = readAt === undefined ? undefined : Math.min(now - readAt, 46 * SECOND)
  return [
    found,
    state,
    misses && (isOver(misses, now, world) ? 'over' : missesOf(misses, now)),
    age,
    beside.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  ]
}

/** Whether the next 404 begins a new row, whatever this one was; but what was believed once bears on what a list is believed. */
function isOver({ lastAt }: Misses, now: number, { profile }: World): boolean {
  return profile === undefined && now - lastAt >= GAP_MS
}

function missesOf({ count, firstAt, lastAt, besideSince }: Misses, now: number): unknown {
  const beside = besideSince === undefined ? undefined : Math.min(now - besideSince, 60 * SECOND)
  return [Math.min(count, 3), Math.min(now - firstAt, ALONE_MS), Math.min(now - lastAt, GAP_MS), beside]
}

/** For how long a pipe is known, up to where its first 404 counts. */
export function ageOf(
  { memory, now }: Pick<Model, 'memory' | 'now'>,
  pipe: Remote | undefined,
): number | undefined {
  if (pipe === undefined) return undefined
  const at = memory.recordedAt.find(([id]) => id === pipe.id)?.[1] ?? pipe.at - BEGIN
  return Math.min(now - at, 60 * SECOND)
}

function pipeOf(pipe: Pipe, now: number, hides: boolean): unknown {
  const gone = pipe.goneSince === undefined ? undefined : Math.min(now - pipe.goneSince, ALONE_MS)
  return [
    pipe.id,
    pipe.wish,
    pipe.intentId,
    pipe.serviceId,
    pipe.name,
    pipe.topics,
    pipe.view,
    hides && [gone, pipe.isBeside],
    pipe.isTold,
    pipe.isChanged,
    pipe.isDenied,
  ]
}

/** What is there, as far as it makes a difference; nothing of a service that changes nothing. */
function lifeOf({ now, saidPipe }: Model, world: World, { id, life, madeAt, isListed }: Pipe): unknown {
  if (life === undefined) return undefined
  const { before, vain, told, live, ...more } = life
  return [
    live,
    told && (isSame(told, live) || told),
    before && [before.live, now - before.at],
    vain && [vain.what, vain.isKept, Math.min(now - vain.at, AGAIN_MS)],
    more,
    isListed,
    saidPipe.has(id),
    Math.min(now - madeAt, isAgeLong(world) ? 15 * MINUTE : NEW_MS),
  ]
}

/** A create goes out beside a pipe of this age only when no list shows it yet. */
const NEW_MS = 71 * SECOND

/** Whether it makes a difference for longer how old a pipe is: for a size that is sent, or for a create whose pipe is looked for. */
function isAgeLong({ edits, faults }: World): boolean {
  return edits.includes('replicas') || faults.includes('console makes')
}

function listingOf(
  { now }: Model,
  [name, { askedAt, items }]: readonly [string, Listing],
  looks: ReadonlyMap<Key, Observation>,
  pipes: readonly Pipe[],
): unknown {
  const order = [...looks].map(([key, { readAt }]) => `${key} ${readAt !== undefined && readAt > askedAt}`)
  const shown = [...items.values()].map(({ id, ...item }) => ({
    id,
    place: pipes.findIndex((pipe) => pipe.id === id),
    text: JSON.stringify({ ...item, createdAt: undefined }),
  }))
  const placed = shown.toSorted((a, b) => a.place - b.place || (a.text < b.text ? -1 : 1))
  return [name, now - askedAt, order.toSorted(), placed]
}
