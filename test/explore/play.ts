import { createChooser, type Chooser } from './chooser.ts'
import { judgeKept } from './laws.ts'
import { tidy, type Model } from './model.ts'
import { passMeanwhile } from './meanwhile.ts'
import { savePods } from './pod.ts'
import { standStill } from './pod-steps.ts'
import { createRun, type Step } from './run.ts'
import { stepsOf } from './steps.ts'
import type { World } from './worlds.ts'

/** A step, with the choices that are made in it. */
export interface Move {
  readonly step: string
  readonly script: readonly number[]
}

export type Played = Awaited<ReturnType<typeof playStep>>

/** Plays one step from a situation, which stays as it is. */
export async function play(
  from: Model,
  world: World,
  move: Move,
  chooser = createChooser(move.script),
): Promise<Played> {
  const step = stepsOf(from, world).find(({ name }) => name === move.step)
  if (step === undefined) throw new Error(`"${move.step}" cannot happen here`)
  return playStep(from, world, step, chooser)
}

/** As {@link play}. @param step one of those that can happen there */
export async function playStep(from: Model, world: World, step: Step, chooser: Chooser) {
  const run = createRun(from, world, chooser, from.pods === undefined ? passMeanwhile : standStill)
  try {
    await step.play(run)
    await Promise.all(run.beside)
  } catch (error) {
    if (chooser.isLost) throw error
    // Errors of the platform and of the disk are values by now: what is thrown is a bug.
    run.broken.push(`It threw ${String(error)}.`)
  }
  const { model, process } = run
  if (process !== undefined && !process.isDead) model.memory = process.memory()
  savePods(run)
  judgeKept(run)
  tidy(model)
  return {
    model,
    broken: run.broken,
    lines: run.lines,
    writes: run.writes,
    choices: chooser.made,
    cost: step.cost + chooser.cost,
  }
}
