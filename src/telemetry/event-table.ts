import type { Clock } from '../lib/clock.ts'
import type { Event } from '../contract/events.ts'
import type { Instruments } from './instruments.ts'
import { LINES_LOST } from './log-output.ts'
import { LEVELS, type LogEntry, type LineDefinition } from './log-fields.ts'
import { NOTIFICATION_EVENTS, PROCESS_EVENTS, READING_EVENTS } from './event-rows/process-events.ts'
import { REQUEST_EVENTS } from './event-rows/request-events.ts'
import { isApplied, RESOURCE_EVENTS } from './event-rows/resource-events.ts'
import type { EventRow, Remembered } from './event-rows/event-row.ts'

export const EVENTS: { readonly [E in Event as E['type']]: EventRow<E> } = {
  ...PROCESS_EVENTS,
  ...READING_EVENTS,
  ...RESOURCE_EVENTS,
  ...REQUEST_EVENTS,
  ...NOTIFICATION_EVENTS,
}

export const LINES: readonly LineDefinition[] = [
  ...Object.values<EventRow<never>>(EVENTS).flatMap(({ line = [], moreLines = [] }) =>
    [line, moreLines].flat(),
  ),
  LINES_LOST,
]

function rowOf(event: Event): EventRow<Event> {
  return EVENTS[event.type] // the row of its own type
}

export function linesOf(event: Event, remembered: Remembered): readonly LogEntry[] {
  const row = rowOf(event)
  if (row.log !== undefined) return row.log(event, remembered)
  if (row.line === undefined) return []
  const { message, levels, fields } = row.line
  const facts = Object.entries(row.facts?.(event, remembered.commands) ?? withDetail(event)).filter(
    ([name]) => name === 'revision' || fields.some((field) => field === name),
  )
  const level = row.level?.(event) ?? LEVELS.find((one) => one in levels) ?? 'error'
  return [{ level, message, facts: Object.fromEntries(facts) }]
}

function withDetail(event: Event): Readonly<Record<string, unknown>> {
  return 'message' in event ? { ...event, detail: event.message } : { ...event }
}

export function countEvent(metrics: Instruments, event: Event, clock: Clock): void {
  rowOf(event).count?.(metrics, event, clock)
}

const DETAILS: ReadonlySet<string> = new Set(
  Object.entries<EventRow<never>>(EVENTS).flatMap(([type, { line }]) =>
    line === undefined || Object.keys(line.levels).join() === 'debug' ? [type] : [],
  ),
)

export function isDetail(event: Event): boolean {
  if (event.type === 'ReconcileFinished') return !isApplied(event)
  return event.type === 'ConditionChanged' ? !event.isNews : DETAILS.has(event.type)
}
