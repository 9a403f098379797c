import { hostname } from 'node:os'
import { NotLeading, type Leader, type Leadership, type Term } from '../contract/leadership.ts'
import type { Store } from './sqlite-store.ts'

/** Leadership of a ledger locked by the operating system: no takeover while its owner lives. */
export function createSoleLeadership(store: Pick<Store, 'write'>): Leadership {
  const holder = `process ${process.pid} on ${hostname()}`
  let term: Term | undefined

  function raise(): number {
    return store.write((tables) => {
      const epoch = tables.count('epoch') + 1
      tables.set('epoch', epoch)
      return epoch
    }, 'free')
  }

  function begin(): Term {
    const over = new AbortController()
    return {
      epoch: raise(),
      // The previous owner has ended.
      lateForMs: undefined,
      // The next owner reads the same directory.
      revisionBefore: undefined,
      over: over.signal,
      async confirm() {
        over.signal.throwIfAborted()
        return Infinity
      },
      async release() {
        over.abort(new NotLeading('it was released', true))
      },
    }
  }

  function current(): Term {
    if (term === undefined || term.over.aborted) term = begin()
    return term
  }

  return {
    isShared: false,
    async acquire(signal) {
      signal.throwIfAborted()
      return current()
    },
    attempt: async () => current(),
    actOn: () => undefined,
    leader(): Leader | undefined {
      return term === undefined || term.over.aborted
        ? undefined
        : { holder, epoch: term.epoch, url: undefined }
    },
    async [Symbol.asyncDispose]() {
      await term?.release()
    },
  }
}
