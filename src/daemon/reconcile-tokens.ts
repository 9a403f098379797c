import type { Key } from '../kinds/key.ts'

const REMEMBERED = 100

/** Tracks requests by `POST /-/reconcile` and SIGHUP. */
export function createRequests(newId: () => string) {
  /** Pending keys by token. Undefined until the directory is read. */
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
    expect(token: string, keys: readonly Key[]) {
      if (requests.has(token)) requests.set(token, new Set(keys))
    },
    /** Called when a reconcile begins. @returns function to call at its end */
    request(key: Key) {
      // A reconcile does not answer requests that come after its start.
      const answered = [...requests.values()].filter((pending) => pending?.has(key))
      return () => {
        for (const pending of answered) pending?.delete(key)
      }
    },
    progress(token: string) {
      if (!requests.has(token)) return undefined
      const pending = requests.get(token)
      return { done: pending?.size === 0, pending: pending?.size ?? 0 }
    },
  }
}
