import type { Event } from '../contract/events.ts'
import type { Level, Line, LineDefinition } from './log-fields.ts'

export const LEDGER_WRITTEN = {
  message: 'Ledger written',
  levels: {
    debug: 'it is on disk; or it fails as before',
    info: 'another process wrote first, and it is decided again; or it works again after a failure',
    error: 'it cannot be written: said once, also where it cannot be read',
  },
  fields: ['result', 'durationMs', 'detail'],
} as const satisfies LineDefinition

export const LEDGER_READ = {
  message: 'Ledger read',
  levels: {
    debug: 'it fails as before',
    info: 'it works again after a failure',
    warn: 'an object in the cluster has its label and is no record of it: it is ignored; said once for each',
    error: 'it cannot be read: said once, also where it cannot be written',
  },
  fields: ['result', 'durationMs', 'detail'],
} as const satisfies LineDefinition

/** A broken ledger fails at every reconcile: one line per cause. */
export type LedgerLine = (event: Extract<Event, { type: 'LedgerWritten' | 'LedgerRead' }>) => Line

export function createLedgerLine(): LedgerLine {
  const failing = new Set<'LedgerWritten' | 'LedgerRead'>()
  return ({ type, result, durationMs, message: detail }) => {
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
