import { getHeapStatistics } from 'node:v8'
import { createChooser, otherScripts } from './chooser.ts'
import { digestOf } from './digest.ts'
import { brokenInTheEnd } from './ending.ts'
import type { Model } from './model.ts'
import { playStep, type Move } from './play.ts'
import { judgeQuiet } from './pod-laws.ts'
import { settledModel } from './settled.ts'
import { stepsOf } from './steps.ts'
import type { World } from './worlds.ts'

export interface Explored {
  readonly world: string
  /** The most faults, edits and words in one story for which all stories were told. */
  readonly depth: number
  readonly situations: number
  /** Steps that were played, most of them a look of Pipewright at one key. */
  readonly plays: number
  readonly seconds: number
  /** Why it ended before its depth. */
  readonly stopped: 'law' | 'time' | 'memory' | undefined
  /** The shortest story in which a law is broken. */
  readonly story: Story | undefined
}

export interface Story {
  readonly moves: readonly Move[]
  readonly broken: readonly string[]
  readonly cost: number
}

export interface Limits {
  readonly depth: number
  /** When to stop, as `performance.now()` says. */
  readonly until: number
  /** Told everything that happened in each step, in sentences. */
  readonly onPlayed?: (lines: string) => void
}

/** A situation to go on from, and how it was reached. */
interface Situation {
  readonly model: Model
  readonly digest: string
  readonly before: Trace | undefined
  readonly steps: number
}

interface Trace {
  readonly move: Move
  readonly before: Trace | undefined
}

/** More than any story has: stories with fewer faults come first, however long they are. */
const MOST_STEPS = 1e6

/** Tells all stories of a world, those with the fewest faults first, and of those the shortest first. */
export async function explore(world: World, limits: Limits): Promise<Explored> {
  const started = performance.now()
  /** Digests, each with the fewest faults and then steps that lead there. */
  const known = new Map<string, number>()
  const endsWell = new Set<string>()
  let situations = 0
  /** By cost, then by steps. */
  const waiting: Situation[][][] = []
  let plays = 0

  /** @returns its digest */
  function add(reached: Omit<Situation, 'digest'>, cost: number): string {
    const digest = digestOf(reached.model, world)
    const place = cost * MOST_STEPS + reached.steps
    if ((known.get(digest) ?? Infinity) <= place) return digest
    known.set(digest, place)
    const level = (waiting[cost] ??= [])
    const row = (level[reached.steps] ??= [])
    row.push({ ...reached, digest })
    return digest
  }

  function ended(depth: number, stopped: Explored['stopped'], story?: Story): Explored {
    const seconds = (performance.now() - started) / 1_000
    return { world: world.name, depth, situations, plays, seconds, stopped, story }
  }

  add({ model: await settledModel(world), before: undefined, steps: 0 }, 0)
  for (let cost = 0; cost <= limits.depth; cost += 1) {
    const level = waiting[cost] ?? []
    for (let steps = 0; steps < level.length; steps += 1) {
      const row = level[steps] ?? []
      for (const situation of row) {
        // A shorter way there was found since.
        if ((known.get(situation.digest) ?? 0) < cost * MOST_STEPS + steps) continue
        situations += 1
        if (performance.now() > limits.until) return ended(cost - 1, 'time')
        if (situations % 1_000 === 0 && isMemoryFull()) return ended(cost - 1, 'memory')
        const story = await goOn(situation, cost)
        if (story !== undefined) return ended(cost, 'law', story)
      }
      level[steps] = []
    }
    waiting[cost] = []
  }
  return ended(limits.depth, undefined)

  /** Plays every step from a situation, in every way. @returns the story, if a law is broken */
  async function goOn({ model, before, steps, digest }: Situation, cost: number): Promise<Story | undefined> {
    const broken = await brokenInTheEnd(model, world, endsWell)
    if (broken.length > 0) return { moves: movesOf(before), broken, cost }
    const most = limits.depth - cost
    let isQuiet = model.pods !== undefined
    for (const step of stepsOf(model, world)) {
      if (step.cost > most) continue
      const scripts: (readonly number[])[] = [[]]
      for (let script = scripts.pop(); script !== undefined; script = scripts.pop()) {
        const played = await playStep(model, world, step, createChooser(script))
        plays += 1
        limits.onPlayed?.(`${step.name}\n${played.lines.join('\n')}`)
        const trace = { move: { step: step.name, script }, before }
        if (played.broken.length > 0)
          return { moves: movesOf(trace), broken: played.broken, cost: cost + played.cost }
        scripts.push(...otherScripts({ made: played.choices }, script.length, most - step.cost))
        const reached = add({ model: played.model, before: trace, steps: steps + 1 }, cost + played.cost)
        // What a person may say does not happen by itself.
        if (played.cost === 0 && step.kind !== 'shell' && reached !== digest) isQuiet = false
      }
    }
    const left = isQuiet ? judgeQuiet(model) : []
    return left.length > 0 ? { moves: movesOf(before), broken: left, cost } : undefined
  }
}

function isMemoryFull(): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
  return used > limit * 0.8
}

function movesOf(trace: Trace | undefined): readonly Move[] {
  const moves: Move[] = []
  for (let at = trace; at !== undefined; at = at.before) moves.unshift(at.move)
  return moves
}
