import { createChooser, type Chooser, type Option } from './chooser.ts'
import { settleViews } from './hiding.ts'
import { copyOf, shortId, type Model } from './model.ts'
import type { Process } from './process.ts'
import type { World } from './worlds.ts'

/** One step of a story under way: the model that it changes, the choices that it makes, and what it tells. */
export interface Run {
  readonly model: Model
  readonly world: World
  readonly chooser: Chooser
  /** What happened, in sentences. */
  readonly lines: string[]
  /** Laws that were broken, in sentences. */
  readonly broken: string[]
  /** The process, once this step needed it; a new one after a crash. */
  process: Process | undefined
  /** Steps that may still happen while a request waits. */
  meanwhile: number
  /** Keys that are being reconciled: none is reconciled twice at once. */
  readonly busy: Set<string>
  /** Whether anything happened while a request waited. */
  hadMeanwhile: boolean
}

export function createRun(model: Model, world: World, script: readonly number[]): Run {
  return {
    model: copyOf(model),
    world,
    chooser: createChooser(script),
    lines: [],
    broken: [],
    process: undefined,
    meanwhile: world.meanwhile,
    busy: new Set(),
    hadMeanwhile: false,
  }
}

export function tell(run: Run, line: string): void {
  run.lines.push(line)
}

/** After any change of the platform. */
export function settle(run: Run): void {
  for (const pipe of settleViews(run.model))
    tell(run, `Pipe ${shortId(pipe.id)} can be read again, as it has to by now.`)
}

/** Takes one of the options; those that are not there are left out. */
export function choose<Name extends string>(
  run: Run,
  options: readonly ((Option & { readonly name: Name }) | false)[],
): Name {
  return run.chooser.choose(options.filter((option) => option !== false))
}
