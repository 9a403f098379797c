import type { Event } from '../contract/events.ts'
import type { Level, Line, LineDefinition } from './log-fields.ts'

export const LEDGER_LINE = {
  message: 'Ledger written',
  levels: {
    debug: 'it is on disk; or it fails as before',
    info: 'another process wrote first, and it is decided again; or it works again after a failure',
    error: 'it cannot be written: said once, until it works again',
  },
  fields: ['result', 'durationMs', 'detail'],
} as const satisfies LineDefinition

/** A ledger that cannot be written fails at each reconcile: that is one cause. */
export interface LedgerLines {
  written(event: Extract<Event, { type: 'LedgerWritten' }>): Line
}

export function createLedgerLines(): LedgerLines {
  let fails = false
  return {
    written({ result, durationMs, message }) {
      const before = fails
      fails = result === 'failed' || (fails && result === 'conflict')
      return {
        level: levelOf(result, before),
        message: LEDGER_LINE.message,
        facts: { result, durationMs, detail: message },
      }
    },
  }
}

function levelOf(result: Extract<Event, { type: 'LedgerWritten' }>['result'], failed: boolean): Level {
  if (result === 'failed') return failed ? 'debug' : 'error'
  return result === 'conflict' || failed ? 'info' : 'debug'
}
