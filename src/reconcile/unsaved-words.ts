import type { Key } from '../kinds/key.ts'
import type { Failed } from '../plan/outcome.ts'
import type { Because } from '../plan/reason.ts'
import type { Event } from './events.ts'
import type { CreateEnd } from './rescue.ts'

/* What is said of a create whose outcome is known, and not on disk. */

/** What is known of an outcome that is in memory only. */
export function unsavedBecause(key: Key, end: CreateEnd): Because<'OutcomeUnsaved'> {
  const facts =
    end.type === 'created'
      ? ({ key, end: 'created', pipeId: end.pipe.id, seen: '' } as const)
      : { key, end: end.type, seen: end.seen.what }
  return { reason: 'OutcomeUnsaved', facts }
}

export function unsavedOutcome(because: Because, requestId: string | undefined): Failed {
  return { result: 'failed', ...because, requestId, retryAfterMs: 1_000 }
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
