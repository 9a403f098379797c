import type { Clock } from '../../lib/clock.ts'
import type { Event } from '../../contract/events.ts'
import type { Instruments } from '../instruments.ts'
import type { Facts, Level, Line, LineDefinition } from '../log-fields.ts'
import type { LedgerLines } from '../ledger-lines.ts'
import type { ReadingLines } from '../reading-lines.ts'

/**
 * How an event is logged and counted. Info: something changed. Warn: something stands in the way. Error: our fault, or a
 * person is needed.
 */
export interface EventRow<E extends Event> {
  /** The kinds of line that there are of it; none: it is only counted, since there are too many. */
  readonly lines: readonly LineDefinition[]
  /** Of its one line, where that has several. */
  level?(event: E): Level
  /** Its fields, where they do not stand in the event under their names, with its message as `detail`. */
  facts?(event: E): Facts
  /** Where one line with its facts does not do. */
  log?(event: E, remembered: Remembered): readonly Line[]
  count?(metrics: Instruments, event: E, clock: Clock): void
}

/** What was said before, by one log. */
export interface Remembered {
  readonly readings: ReadingLines
  readonly ledger: LedgerLines
}

/** The rows of some events, each under the type of its event. */
export type EventRows = { readonly [E in Event as E['type']]?: EventRow<E> }

/** Of what is measured in ms: metrics count in seconds. */
export function seconds(milliseconds: number): number {
  return milliseconds / 1_000
}
