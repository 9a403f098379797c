import type { Rig } from './rig.ts'

/** What is held: a quotient, a difference or a share of the floor, in the median of all runs. */
export interface Rule {
  readonly how: 'times' | 'plus' | 'share'
  /** `times`: subject / floor is at most this. `plus`: subject - floor is. `share`: subject / floor is at least this. */
  readonly target: number
  /** Of a difference: the floor on the machine for which the target was set. On a slower one, it takes longer to be far off. */
  readonly floorThen?: number
}

/** One run of a row: the floor and the subject, taken one after the other. */
export interface Measured {
  readonly floor: number
  readonly subject: number
  /** What else was seen, shown beside; medians over the runs. */
  readonly notes: Readonly<Record<string, number>>
  /** What must not be, whatever the numbers say: a pipe that was read twice, a POST. */
  readonly faults: readonly string[]
  /** What must not be in each run: in some, a machine that is busy may be to blame. */
  readonly faultsIfInEach?: readonly string[]
}

/** One row of the table (design §13). */
export interface Row {
  readonly name: string
  readonly what: string
  readonly floor: string
  readonly unit: 'ms' | 'MB' | 'requests/s'
  readonly rule: Rule
  /**
   * From how many manifests on the rule is held; all when absent. With fewer, what the numbers show is how long code takes
   * that runs for the first time. Infinity: it is shown and never held.
   */
  readonly heldFrom?: number
  /** What it measures hangs little on who else uses the machine, so that CI fails when it is far off. */
  readonly isSteady?: true
  /** Commands that have to be there; the row is skipped where one is not. */
  readonly needs?: readonly string[]
  /** It takes minutes, and is measured only when `--rows` names it. */
  readonly onlyNamed?: true
  /** It takes the best of several by itself, so that this many runs are enough. */
  readonly runs?: number
  /** Sizes at which it makes sense; all when absent. */
  readonly onlyAt?: (size: number, sizes: readonly number[]) => boolean
  /**
   * @param run from 0; floor and subject are first in alternation
   * @param rigOf the rig of another size, for a row that compares two
   */
  measure(rig: Rig, run: number, rigOf: (size: number) => Promise<Rig>): Promise<Measured>
}

/** What the rule compares with its target. */
export function valueOf(rule: Rule, { floor, subject }: Pick<Measured, 'floor' | 'subject'>): number {
  return rule.how === 'plus' ? subject - floor : subject / floor
}

export function isReached(rule: Rule, value: number): boolean {
  return rule.how === 'share' ? value >= rule.target : value <= rule.target
}

/** Worse than twice the target; of a share, what is missing from the whole counts. */
export function isFarOff(rule: Rule, run: Pick<Measured, 'floor' | 'subject'>): boolean {
  const value = valueOf(rule, run)
  if (rule.how === 'share') return 1 - value > 2 * (1 - rule.target)
  const slowness = rule.floorThen === undefined ? 1 : Math.max(1, run.floor / rule.floorThen)
  return value > 2 * rule.target * slowness
}

/** Runs both, floor first in even runs and subject first in odd ones, so that a slow moment hits both alike. */
export async function inTurns<F, S>(
  run: number,
  floor: () => Promise<F>,
  subject: () => Promise<S>,
): Promise<readonly [F, S]> {
  if (run % 2 === 0) {
    const first = await floor()
    return [first, await subject()]
  }
  const second = await subject()
  return [await floor(), second]
}
