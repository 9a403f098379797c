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

type Written = Extract<Event, { type: 'LedgerWritten' }>
type Read = Extract<Event, { type: 'LedgerRead' }>

/** A ledger that cannot be read or written fails at each reconcile: that is one cause. */
export interface LedgerLines {
  written(event: Written): Line
  read(event: Read): Line
}

export function createLedgerLines(): LedgerLines {
  const failing = new Set<'read' | 'write'>()

  function levelOfFailure(what: 'read' | 'write'): Level {
    const isKnown = failing.size > 0
    failing.add(what)
    return isKnown ? 'debug' : 'error'
  }

  function levelOfWrite(result: Written['result']): Level {
    if (result === 'failed') return levelOfFailure('write')
    if (result === 'conflict') return 'info'
    const isNews = failing.size > 0
    failing.clear()
    return isNews ? 'info' : 'debug'
  }

  function levelOfRead(result: Read['result']): Level {
    if (result === 'failed') return levelOfFailure('read')
    if (result === 'ignored') return 'warn'
    const isNews = failing.delete('read') && failing.size === 0
    return isNews ? 'info' : 'debug'
  }

  return {
    written: (event) => line(LEDGER_WRITTEN.message, levelOfWrite(event.result), event),
    read: (event) => line(LEDGER_READ.message, levelOfRead(event.result), event),
  }
}

function line(message: string, level: Level, { result, durationMs, message: detail }: Written | Read): Line {
  return { level, message, facts: { result, durationMs, detail } }
}
