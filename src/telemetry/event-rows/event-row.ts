import type { Clock } from '../../lib/clock.ts'
import type { Event } from '../../contract/events.ts'
import type { Instruments } from '../instruments.ts'
import type { Facts, Level, LogEntry, LineDefinition } from '../log-fields.ts'
import type { LineMemory } from '../reading-lines.ts'

/** Levels: info for a change, warn for an obstacle, error if a person must act, or for a bug. */
export interface EventRow<E extends Event> {
  /** Undefined if the events are too frequent for the log. */
  readonly line?: LineDefinition
  readonly moreLines?: readonly LineDefinition[]
  level?(event: E): Level
  /** Fields of the line. Default: the event. */
  facts?(event: E): Facts
  /** Replaces `level` and `facts` if the line depends on earlier events. */
  log?(event: E, memory: LineMemory): readonly LogEntry[]
  count?(metrics: Instruments, event: E, clock: Clock): void
}

export type EventRows = { readonly [E in Event as E['type']]?: EventRow<E> }

export function seconds(milliseconds: number): number {
  return milliseconds / 1_000
}
