import type { Written } from '../support/oracle.ts'
import { createRandom, type Random } from '../torture/random.ts'
import { createChooser, type Option } from './chooser.ts'
import { passTime } from './hiding.ts'
import { copyOf, keysOf, MINUTE, type Model } from './model.ts'
import { play, type Move } from './play.ts'
import { settledModel } from './settled.ts'
import { storyAsText } from './story.ts'
import { stepsOf } from './steps.ts'
import { unsettledIn } from './unsettled.ts'
import type { World } from './worlds.ts'

/* Long stories at random, of the same worlds, laws and sentences as the short ones that are told one and all. */

interface Walk {
  readonly moves: readonly Move[]
  readonly broken: readonly string[]
  readonly writes: readonly Written[]
}

/** In a story, unless it ends sooner. */
const STEPS = 60
/** How often what is usual happens where there is a choice. */
const USUAL = 0.7
/** How often all keys are looked at, one after the other, rather than one thing happens. */
const PASSES = 0.2
/** Longer than a back-off, the interval of a pipe, and a wait that was said too early. */
const PASS_MS = 20 * MINUTE
/** A 404 is believed after the third; a back-off ends; who waits for another comes after it. */
const MOST_PASSES = 10
const LEAST_PASSES = 5

/** Walks so many steps, and then on until everything is quiet. */
async function walk(world: World, random: Random, length: number): Promise<Walk> {
  let model = await settledModel(world)
  const moves: Move[] = []
  const writes: Written[] = []
  const pick = (options: readonly Option[]) =>
    random.chance(USUAL) ? 0 : Math.floor(random.next() * options.length)

  async function take(step: string): Promise<readonly string[]> {
    const chooser = createChooser([], pick)
    const played = await play(model, world, { step, script: [] }, chooser)
    moves.push({ step, script: played.choices.map(({ taken }) => taken) })
    writes.push(...played.writes)
    model = played.model
    return played.broken
  }

  while (moves.length < length) {
    const steps = stepsOf(model, world)
    const passes = random.chance(PASSES) ? random.pick([1, 1, 5]) : 0
    // A row of 404s breaks when nobody looks for longer than that.
    const wait = passes > 1 ? '3 min' : random.pick(world.waits)
    const kind = random.pick(KINDS)
    const pass = [wait, ...keysOf(model).map((key) => `look ${key}`)]
    const next =
      passes > 0
        ? Array.from({ length: passes }, () => pass).flat()
        : [random.pick(steps.filter((step) => step.kind === kind).concat(steps)).name]
    for (const step of next) {
      if (!stepsOf(model, world).some(({ name }) => name === step)) continue
      const broken = await take(step)
      if (broken.length > 0) return { moves, broken, writes }
    }
  }
  return { moves, writes, broken: (await settle(model, world)).broken }
}

const KINDS = ['look', 'look', 'look', 'time', 'platform', 'edit', 'shell', 'crash'] as const

/** Plays a story again. @returns undefined: it cannot happen */
async function replay(world: World, moves: readonly Move[]): Promise<readonly string[] | undefined> {
  let model = await settledModel(world)
  for (const move of moves) {
    const played = await play(model, world, move).catch(() => undefined)
    if (played === undefined) return undefined
    if (played.broken.length > 0) return played.broken
    model = played.model
  }
  return (await settle(model, world)).broken
}

/** The same story with as few steps as still break a law. */
async function shorten(
  world: World,
  { moves: all, broken: first }: Pick<Walk, 'moves' | 'broken'>,
): Promise<Pick<Walk, 'moves' | 'broken'>> {
  let [moves, laws] = [all, first]
  for (let size = Math.ceil(moves.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < moves.length;) {
      const fewer = moves.toSpliced(at, size)
      const broken = await replay(world, fewer)
      if (broken !== undefined && broken.length > 0) [moves, laws] = [fewer, broken]
      else at += size
    }
  }
  return { moves, broken: laws }
}

/** Nothing fails any more, and every manifest is valid: everything has to settle, and to stay so. */
async function settle(from: Model, world: World): Promise<{ model: Model; broken: readonly string[] }> {
  const calm: World = { ...world, meanwhile: 0, crashes: false, standsStill: false, faults: [], replies: [] }
  let model = calmed(from)
  for (let pass = 0, quiet = 0; pass < MOST_PASSES && (quiet < 2 || pass < LEAST_PASSES); pass += 1) {
    passTime(model, PASS_MS)
    const before = model.versions
    const after = await lookAtAll(model, calm)
    if (after.broken.length > 0) return after
    model = after.model
    quiet = model.versions === before ? quiet + 1 : 0
  }
  const unsettled = [...model.records.values()].flatMap((record) => unsettledIn(record, model))
  if (unsettled.length > 0) return { model, broken: unsettled }
  // Two more, as no time goes by: a query endpoint that is due is applied in the first of them.
  const once = await lookAtAll(model, calm)
  const twice = await lookAtAll(once.model, calm)
  const written = [...twice.model.records.values()].filter(
    ({ key, version }) => once.model.records.get(key)?.version !== version,
  )
  // A pipe that cannot be taken over is asked for again and again: a person has to say something else.
  const loud = written.filter(({ key, conditions }) => {
    const isInVain = model.lock[key] !== undefined && !model.pipes.some(({ id }) => id === model.lock[key])
    return conditions?.Synced.reason !== 'AdoptRefused' && !isInVain
  })
  return {
    model,
    broken: loud.map(
      ({ key, conditions }) =>
        `${key} (${conditions?.Synced.reason}) is written again, though nothing changed.`,
    ),
  }
}

async function lookAtAll(from: Model, world: World): Promise<{ model: Model; broken: readonly string[] }> {
  let model = from
  for (const key of keysOf(from)) {
    if (!keysOf(model).includes(key)) continue
    const played = await play(model, world, { step: `look ${key}`, script: [] })
    if (played.broken.length > 0) return played
    model = played.model
  }
  return { model, broken: [] }
}

function calmed(from: Model): Model {
  const model = copyOf(from)
  const isRight = { isPermitted: true, isDiskFull: false, isDiskGone: false, isIdle: false }
  Object.assign(model, isRight, { isServiceFlawed: false, isLockBroken: false, jumpedMs: 0, late: [] })
  model.password ??= 'old'
  model.memory = { ...model.memory, knowsServices: true }
  for (const pipe of model.pipes) pipe.view = 'seen'
  for (const wish of model.wishes) Object.assign(wish, { isFlawed: false, isSuspended: false })
  if (model.endpoint !== undefined) model.endpoint.isSuspended = false
  return model
}

/** Tells so many stories. @param see is given what was written in each. @returns the first that breaks a law, in sentences */
export async function tellWalks(
  world: World,
  about: { readonly seed: string; readonly count: number; readonly see?: (written: Written) => void },
): Promise<string | undefined> {
  const { seed, count, see } = about
  for (let number = 0; number < count; number += 1) {
    const told = await walk(world, createRandom(`${seed} ${world.name} ${number}`), STEPS)
    if (see !== undefined) told.writes.forEach(see)
    if (told.broken.length === 0) continue
    const story = { ...(await shorten(world, told)), cost: 0 }
    return `story ${number} of seed ${seed}:\n${await storyAsText(world, story)}`
  }
  return undefined
}
