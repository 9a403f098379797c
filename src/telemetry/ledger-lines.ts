import type { Event } from '../contract/events.ts'
import type { Level, LogEntry, LineDefinition } from './log-fields.ts'

export const LEDGER_WRITTEN = {
  message: 'Ledger written',
  levels: {
    debug: 'the write is on disk, or failed again',
    info: 'another process wrote first: Pipewright decides again. Or writes and reads work again',
    error: 'writes fail, and reads did not fail before',
  },
  fields: ['result', 'durationMs', 'detail'],
} as const satisfies LineDefinition

export const LEDGER_READ = {
  message: 'Ledger read',
  levels: {
    debug: 'reads fail again',
    info: 'reads work again',
    warn: 'an object in the cluster has the label of the ledger but is not its record: it is ignored. Once per object',
    error: 'reads fail, and writes did not fail before',
  },
  fields: ['result', 'durationMs', 'detail'],
} as const satisfies LineDefinition

/** While the ledger is broken, each reconcile fails. Only the first failure is an error line. */
export function createLedgerLine() {
  const failing = new Set<'LedgerWritten' | 'LedgerRead'>()
  return (event: Extract<Event, { type: 'LedgerWritten' | 'LedgerRead' }>): LogEntry => {
    const { type, result, durationMs, message: detail } = event
    const { message } = type === 'LedgerRead' ? LEDGER_READ : LEDGER_WRITTEN
    const line = (level: Level) => ({ level, message, facts: { result, durationMs, detail } })
    if (result === 'conflict') return line('info')
    if (result === 'ignored') return line('warn')
    const before = failing.size
    if (result === 'failed') {
      failing.add(type)
      return line(before === 0 ? 'error' : 'debug')
    }
    // A successful write proves that reads work, too.
    if (type === 'LedgerWritten') failing.clear()
    failing.delete(type)
    return line(before > 0 && failing.size === 0 ? 'info' : 'debug')
  }
}
