import type { Key } from '../kinds/key.ts'

/** What `POST /-/reconcile` and SIGHUP asked for, and how far it got (design §7). */
export interface Requests {
  /** @returns the token by which the request's progress is known */
  open(): string
  /** The reading is done: these keys are to be reconciled. */
  expect(token: string, keys: readonly Key[]): void
  /** A reconcile of a key begins; @returns what to call when it has ended */
  request(key: Key): () => void
  /** `undefined`: a token that is not, or no longer, known. */
  progress(token: string): { readonly done: boolean; readonly pending: number } | undefined
}

/** The last so many requests can be asked about. */
const REMEMBERED = 100

function nothing(): void {}

export function createRequests(newId: () => string): Requests {
  const pending = new Map<string, Set<Key> | undefined>()
  return {
    open() {
      const token = newId()
      pending.set(token, undefined)
      for (const oldest of pending.keys()) {
        if (pending.size <= REMEMBERED) break
        pending.delete(oldest)
      }
      return token
    },
    expect(token, keys) {
      if (pending.has(token)) pending.set(token, new Set(keys))
    },
    request(key) {
      if (pending.size === 0) return nothing
      // A reconcile that began before the request does not answer it.
      const answered = [...pending.values()].filter((keys) => keys?.has(key) === true)
      return () => {
        for (const keys of answered) keys?.delete(key)
      }
    },
    progress(token) {
      if (!pending.has(token)) return undefined
      const keys = pending.get(token)
      return keys === undefined ? { done: false, pending: 0 } : { done: keys.size === 0, pending: keys.size }
    },
  }
}
