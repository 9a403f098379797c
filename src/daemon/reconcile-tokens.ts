import type { Key } from '../kinds/key.ts'

/** Requests by `POST /-/reconcile` and SIGHUP (design §7). */
export interface Requests {
  /** @returns token for `progress` */
  open(): string
  /** After the read: keys to reconcile. */
  expect(token: string, keys: readonly Key[]): void
  /** @returns callback for the end of the reconcile */
  request(key: Key): () => void
  /** Undefined: unknown or forgotten token. */
  progress(token: string): { readonly done: boolean; readonly pending: number } | undefined
}

/** Latest requests with a known progress. */
const REMEMBERED = 100

export function createRequests(newId: () => string): Requests {
  /** Keys to reconcile. Undefined: before the read. */
  const requests = new Map<string, Set<Key> | undefined>()
  return {
    open() {
      const token = newId()
      requests.set(token, undefined)
      for (const oldest of requests.keys()) {
        if (requests.size <= REMEMBERED) break
        requests.delete(oldest)
      }
      return token
    },
    expect(token, keys) {
      if (requests.has(token)) requests.set(token, new Set(keys))
    },
    request(key) {
      // A reconcile that began before the request does not answer it.
      const answered = [...requests.values()].filter((pending) => pending?.has(key))
      return () => {
        for (const pending of answered) pending?.delete(key)
      }
    },
    progress(token) {
      if (!requests.has(token)) return undefined
      const pending = requests.get(token)
      return { done: pending?.size === 0, pending: pending?.size ?? 0 }
    },
  }
}
