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

function nothing(): void {}

interface Request {
  /** Keys to reconcile. Undefined: before the read. */
  pending: Set<Key> | undefined
  done: boolean
}

export function createRequests(newId: () => string): Requests {
  const requests = new Map<string, Request>()

  function answer(request: Request, key: Key): void {
    request.pending?.delete(key)
    if (request.pending?.size === 0) request.done = true
  }

  return {
    open() {
      const token = newId()
      requests.set(token, { pending: undefined, done: false })
      for (const oldest of requests.keys()) {
        if (requests.size <= REMEMBERED) break
        requests.delete(oldest)
      }
      return token
    },
    expect(token, keys) {
      if (requests.has(token)) requests.set(token, { pending: new Set(keys), done: keys.length === 0 })
    },
    request(key) {
      if (requests.size === 0) return nothing
      // A reconcile that began before the request does not answer it.
      const answered = [...requests.values()].filter(({ pending }) => pending?.has(key) === true)
      return () => {
        for (const request of answered) answer(request, key)
      }
    },
    progress(token) {
      const request = requests.get(token)
      return request && { done: request.done, pending: request.pending?.size ?? 0 }
    },
  }
}
