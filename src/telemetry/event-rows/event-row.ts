import type { Clock } from '../../lib/clock.ts'
import type { Event } from '../../contract/events.ts'
import type { CommandContext } from '../../plan/step.ts'
import type { Instruments } from '../instruments.ts'
import type { Facts, Level, Line, LineDefinition } from '../log-fields.ts'
import type { LedgerLine } from '../ledger-lines.ts'
import type { ReadingLines } from '../reading-lines.ts'

/** Info: a change. Warn: an obstacle. Error: a bug, or a person must act. */
export interface EventRow<E extends Event> {
  /** Undefined: too frequent for the log, only counted. */
  readonly line?: LineDefinition
  readonly moreLines?: readonly LineDefinition[]
  /** Required if the line has several levels. */
  level?(event: E): Level
  /** Default: the event's fields, with `message` as `detail`. */
  facts?(event: E, commands: CommandContext): Facts
  /** Replaces the other fields if earlier events matter. */
  log?(event: E, remembered: Remembered): readonly Line[]
  count?(metrics: Instruments, event: E, clock: Clock): void
}

export interface Remembered {
  readonly commands: CommandContext
  readonly readings: ReadingLines
  readonly ledger: LedgerLine
}

export type EventRows = { readonly [E in Event as E['type']]?: EventRow<E> }

export function seconds(milliseconds: number): number {
  return milliseconds / 1_000
}
