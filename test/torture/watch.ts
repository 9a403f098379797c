import type { Run } from './daemon.ts'
import type { Leaks } from './leaks.ts'

/** A resource as the API shows it. */
export interface ShownResource {
  readonly key: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly pipeId?: string | undefined
}

const PAGES = [
  '/',
  '/metrics',
  '/api/v1/resources',
  '/api/v1/history',
  '/api/v1/overview',
  '/api/v1/attention',
  '/api/v1/findings',
  '/api/v1/page',
  '/api/v1/timeline',
  '/healthz',
  '/readyz',
]
const LIMIT_MS = 5_000

/** Reads all pages of a daemon, as long as it lives. */
export async function scanApi(run: Run | undefined, leaks: Leaks, key: string): Promise<void> {
  const url = run?.url
  if (url === undefined) return
  for (const page of [...PAGES, `/api/v1/resources/${key}`, `/api/v1/resources/${key}/manifest`]) {
    const text = await fetch(url + page, { signal: AbortSignal.timeout(LIMIT_MS) })
      .then((reply) => reply.text())
      .catch(() => '') // it was killed meanwhile
    leaks.scan(page, text)
  }
}

/** All resources, or undefined when nobody answers. */
export async function shownResources(run: Run | undefined): Promise<readonly ShownResource[] | undefined> {
  const url = run?.url
  if (url === undefined) return undefined
  try {
    const reply = await fetch(`${url}/api/v1/resources`, { signal: AbortSignal.timeout(LIMIT_MS) })
    const { items } = (await reply.json()) as { items: readonly ShownResource[] } // our own API
    return items
  } catch {
    return undefined
  }
}
