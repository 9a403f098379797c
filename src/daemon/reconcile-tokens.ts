import type { Key } from '../kinds/key.ts'

/** Latest requests with a known progress. */
const REMEMBERED = 100

/** Requests by `POST /-/reconcile` and SIGHUP. */
export function createRequests(newId: () => string) {
  /** Keys to reconcile. Undefined: before the read. */
  const requests = new Map<string, Set<Key> | undefined>()
  return {
    /** @returns token for `progress` */
    open() {
      const token = newId()
      requests.set(token, undefined)
      for (const oldest of requests.keys()) {
        if (requests.size <= REMEMBERED) break
        requests.delete(oldest)
      }
      return token
    },
    /** After the read: keys to reconcile. */
    expect(token: string, keys: readonly Key[]) {
      if (requests.has(token)) requests.set(token, new Set(keys))
    },
    /** @returns callback for the end of the reconcile */
    request(key: Key) {
      // A reconcile that began before the request does not answer it.
      const answered = [...requests.values()].filter((pending) => pending?.has(key))
      return () => {
        for (const pending of answered) pending?.delete(key)
      }
    },
    /** Undefined: unknown or forgotten token. */
    progress(token: string) {
      if (!requests.has(token)) return undefined
      const pending = requests.get(token)
      return { done: pending?.size === 0, pending: pending?.size ?? 0 }
    },
  }
}
