import type { Choice } from './chooser.ts'
import { judgeKept } from './laws.ts'
import { tidy, type Model } from './model.ts'
import { passMeanwhile } from './meanwhile.ts'
import { createRun } from './run.ts'
import { stepsOf } from './steps.ts'
import type { World } from './worlds.ts'

/** A step, with the choices that are made in it. */
export interface Move {
  readonly step: string
  readonly script: readonly number[]
}

/** What became of one step. */
export interface Played {
  readonly model: Model
  /** Laws that were broken, in sentences. */
  readonly broken: readonly string[]
  /** What happened, in sentences. */
  readonly lines: readonly string[]
  readonly choices: readonly Choice[]
  readonly cost: number
}

/** Plays one step from a situation, which stays as it is. */
export async function play(from: Model, world: World, move: Move): Promise<Played> {
  const step = stepsOf(from, world).find(({ name }) => name === move.step)
  if (step === undefined) throw new Error(`"${move.step}" cannot happen here`)
  const run = createRun(from, world, move.script, passMeanwhile)
  await step.play(run)
  const { model, process, chooser } = run
  if (process !== undefined && !process.isDead) model.memory = process.memory()
  judgeKept(run)
  tidy(model)
  return {
    model,
    broken: run.broken,
    lines: run.lines,
    choices: chooser.made,
    cost: step.cost + chooser.cost,
  }
}
