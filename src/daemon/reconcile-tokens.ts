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

interface Request {
  /** Still to be reconciled. Undefined: the reading is not done. */
  pending: Set<Key> | undefined
  done: boolean
}

/** @param writeDown when the last key of a request was reconciled, and before the request is said to be done */
export function createRequests(newId: () => string, writeDown: () => Promise<void>): Requests {
  const requests = new Map<string, Request>()

  function answer(request: Request, key: Key): void {
    request.pending?.delete(key)
    if (request.pending?.size === 0) void writeDown().finally(() => (request.done = true))
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
