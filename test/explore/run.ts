import type { Key } from '../../src/kinds/key.ts'
import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import type { ReconcileResult } from '../../src/reconcile/context.ts'
import type { Written } from '../support/oracle.ts'
import type { Chooser, Option } from './chooser.ts'
import { settleViews } from './hiding.ts'
import { copyOf, shortId, type Memory, type Model } from './model.ts'
import type { LivePod } from './pod.ts'
import type { World } from './worlds.ts'

/** Pipewright itself: the real reconciler, built from what the model says that it knows. */
export interface Process {
  /** `died`: the process did, in the middle. */
  reconcile(key: Key): Promise<ReconcileResult | 'died'>
  read(): void
  readonly isDead: boolean
  /** Whether it is a second one, on the same ledger. */
  readonly isSecond: boolean
  /** Nothing of it reaches anybody any more. @returns what never ends */
  die(): Promise<never>
  /** What it knows, to be built again from. */
  memory(): Memory
  /** Which of two processes of which one acts; undefined: it is alone. */
  readonly pod?: number
}

export interface Step {
  /** Tells it from all others that can happen at the same moment. */
  readonly name: string
  /** As of an {@link Option}. */
  readonly cost: number
  readonly kind: 'look' | 'time' | 'platform' | 'edit' | 'shell' | 'crash'
  /** The key that is looked at with it. */
  readonly key?: Key
  readonly play: (run: Run) => void | Promise<void>
}

/** What may happen while a request waits: `standstill`: the process itself does nothing. */
export type Waiting = 'permit' | 'standstill' | 'reply'

type PassMeanwhile = (run: Run, process: Process, when: string, waiting: Waiting) => Promise<void>

/** One step of a story under way: the model that it changes, the choices that it makes, and what it tells. */
export interface Run {
  readonly model: Model
  readonly world: World
  readonly chooser: Chooser
  /** What happened, in sentences. */
  readonly lines: string[]
  /** Laws that were broken, in sentences. */
  readonly broken: string[]
  /** What was written to the ledger. */
  readonly writes: Written[]
  /** The last list of each service that a process got in this step. */
  readonly lists: WeakMap<Process, ReadonlyMap<string, readonly RemoteResource[]>>
  /** The process, once this step needed it; a new one after a crash. */
  process: Process | undefined
  /** Of two processes of which one acts, those that this step needed. */
  readonly pods: Map<number, LivePod>
  /** Of these, those that stand still, and what wakes them up. */
  readonly standing: Map<number, () => void>
  /** Of these, those that go on once the other one has ended what it does. */
  readonly waiting: Set<number>
  /** What goes on beside the step, and ends with it. */
  readonly beside: Promise<void>[]
  /** All that read the directory when it changes. */
  readonly processes: Set<Process>
  /** Steps that may still happen while a request waits. */
  meanwhile: number
  /** Keys that are being reconciled: none is reconciled twice at once. */
  readonly busy: Set<string>
  /** Lets what may happen while a request waits happen. */
  readonly passMeanwhile: PassMeanwhile
  /** Whether anything happened while a request waited. */
  hadMeanwhile: boolean
}

export function createRun(model: Model, world: World, chooser: Chooser, passMeanwhile: PassMeanwhile): Run {
  return {
    model: copyOf(model),
    world,
    chooser,
    lines: [],
    broken: [],
    writes: [],
    lists: new WeakMap(),
    process: undefined,
    pods: new Map(),
    standing: new Map(),
    waiting: new Set(),
    beside: [],
    processes: new Set(),
    meanwhile: world.meanwhile,
    busy: new Set(),
    passMeanwhile,
    hadMeanwhile: false,
  }
}

/** What a process hears that is dead. */
export function forever(): Promise<never> {
  return new Promise(() => undefined)
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
