import type { Key } from '../kinds/key.ts'
import type { Failed } from '../plan/outcome.ts'
import type { Event } from './events.ts'
import type { CreateEnd } from './rescue.ts'

/* What is said of a create whose outcome is known, and not on disk. */

/** What is known of an outcome that is in memory only. */
export function unsavedWords(key: Key, end: CreateEnd): string {
  const again =
    'The ledger cannot be written; this is kept in memory and tried again. Make room on its volume, or repair it, and do not restart Pipewright before: a restart would lose it.'
  switch (end.type) {
    case 'created':
      return `Pipe ${end.pipe.id} was created for ${key}. ${again} If it is lost, run "pipewright resolve ${key} --adopt ${end.pipe.id}".`
    case 'failed':
      return `Nothing was created for ${key} (${end.seen.what}). ${again}`
    case 'unknown':
      return `Nobody knows whether a pipe was created for ${key} (${end.seen.what}). ${again}`
  }
}

export function unsavedOutcome(message: string, requestId: string | undefined): Failed {
  return { result: 'failed', reason: 'OutcomeUnsaved', message, requestId, retryAfterMs: 1_000 }
}

/** What a process says last of a create whose outcome it could not write down: the next one does not know it. */
export function lastWords(key: Key, end: CreateEnd): Event & { readonly type: 'OutcomeLost' } {
  const common = { type: 'OutcomeLost', key } as const
  const then = 'Once the ledger can be written, and before anything else:'
  switch (end.type) {
    case 'created': {
      const { id } = end.pipe
      const command = `pipewright resolve ${key} --adopt ${id}`
      const message = `Pipe ${id} was created for ${key}, and the ledger does not hold its id. ${then} ${command}`
      return { ...common, outcome: 'created', pipeId: id, command, message }
    }
    case 'failed': {
      const command = `pipewright resolve ${key} --retry --force`
      const message = `Nothing was created for ${key} (${end.seen.what}), and the ledger does not know that. ${then} ${command}`
      return { ...common, outcome: 'failed', pipeId: undefined, command, message }
    }
    case 'unknown': {
      const command = `pipewright status ${key}`
      const message = `Nobody knows whether a pipe was created for ${key} (${end.seen.what}); the ledger says only that it was tried. ${then} ${command}`
      return { ...common, outcome: 'unknown', pipeId: end.seen.pipeId, command, message }
    }
  }
}
