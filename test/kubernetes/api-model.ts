import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { JsonObject } from '../../src/lib/json.ts'
import type { KubeObject, WatchEvent } from '../../src/ledger/kubernetes/cluster-api.ts'
import { ClusterError } from '../../src/ledger/kubernetes/cluster-error.ts'
import { listenHere } from '../support/listen-here.ts'
import { createObjectStore, isIn, type Objects } from '../support/object-store.ts'

/*
 * As much of the Kubernetes API as a ledger uses: the object store over HTTP, lists in pages, watches with bookmarks. The tests that use it
 * also run against a real API (`test/slow`). So the model cannot drift from that.
 */

export interface ApiModel extends AsyncDisposable {
  readonly url: string
  readonly token: string
  /** Requests so far that changed something, or tried to: method and path. */
  readonly writes: readonly string[]
  /** What becomes of the next requests; nothing: they are answered. */
  interfere(how: ((request: Asked) => Mishap) | undefined): void
  /** Forgets what happened before now: whoever watches from before has to list again. */
  compact(): void
  cutWatches(): void
  /** Its clock stands still, ms. */
  stopClock(at: number): void
  /** An object, and everything as it is: to be set back to later. */
  snapshot(): () => void
  objects(): ReadonlyMap<string, JsonObject>
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
}

/** `lost`: it is done, and no reply comes. `cut`: it is not even done. */
export type Mishap = undefined | 'lost' | 'cut' | { readonly status: number; readonly retryAfter?: number }

interface Answer {
  readonly status: number
  readonly body: JsonObject
}

interface Watcher {
  readonly collection: string
  /** What happens until this version is not told: after a restore of the cluster, its versions come once more. */
  readonly from: number
  send(event: JsonObject): void
  end(): void
}

const COLLECTION =
  /^(\/api\/v1|\/apis\/(?:coordination\.k8s\.io|pipewright\.dev)\/v1)\/namespaces\/([^/]+)\/(secrets|leases|pipewrightrecords)$/

export async function startApiModel(): Promise<ApiModel> {
  const token = randomUUID()
  const state: Objects = { objects: new Map(), version: 100 }
  let changes: (readonly [path: string, event: WatchEvent])[] = []
  let compactedAt = 0
  let date: string | undefined
  let mishap: ((request: Asked) => Mishap) | undefined
  const watchers = new Set<Watcher>()
  const writes: string[] = []
  const pages = new Map<string, readonly KubeObject[]>()
  const store = createObjectStore(state, (path, event) => {
    changes.push([path, event])
    for (const watcher of watchers) tell(watcher, path, event)
  })

  function answer({ method, path, query }: Asked, body: JsonObject): Answer {
    const isWhole = COLLECTION.test(path)
    const collection = isWhole ? path : path.slice(0, path.lastIndexOf('/'))
    if (!COLLECTION.test(collection)) return failure(404, 'the server could not find the requested resource')
    try {
      if (method === 'GET' && isWhole) return pageOf(collection, query)
      if (method === 'GET') return { status: 200, body: store.get(path) }
      if (method === 'POST' && isWhole) return { status: 201, body: store.create(collection, body) }
      if (method === 'PUT') return { status: 200, body: store.replace(path, body) }
      store.remove(path)
      return { status: 200, body: { kind: 'Status', status: 'Success' } }
    } catch (error) {
      if (error instanceof ClusterError) return failure(error.status ?? 500, error.message)
      throw error
    }
  }

  function pageOf(collection: string, query: URLSearchParams): Answer {
    const [list, from = '0', at = String(state.version)] = query.get('continue')?.split(' ') ?? []
    const all = (list === undefined ? undefined : pages.get(list)) ?? store.list(collection).items
    if (list !== undefined && !pages.has(list))
      return failure(410, 'The provided continue parameter is too old to display a consistent list result.')
    const limit = Number(query.get('limit') ?? all.length)
    const items = all.slice(Number(from), Number(from) + limit)
    const next = Number(from) + limit
    const mine = list ?? randomUUID()
    if (next < all.length) pages.set(mine, all)
    return {
      status: 200,
      body: {
        kind: 'List',
        metadata: { resourceVersion: at, ...(next < all.length && { continue: `${mine} ${next} ${at}` }) },
        items,
      },
    }
  }

  function watch({ path, query }: Asked, response: ServerResponse): void {
    const from = Number(query.get('resourceVersion') ?? 0)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const send = (event: JsonObject) => void response.write(`${JSON.stringify(event)}\n`)
    if (from < compactedAt) {
      const { body } = failure(410, `too old resource version: ${from}`)
      send({ type: 'ERROR', object: body })
      response.end()
      return
    }
    const watcher: Watcher = { collection: path, from, send, end: () => response.destroy() }
    for (const [own, event] of changes) tell(watcher, own, event)
    if (from <= state.version)
      send({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(state.version) } } })
    watchers.add(watcher)
    const timer = setTimeout(() => response.end(), Number(query.get('timeoutSeconds') ?? 60) * 1_000)
    response.on('close', () => {
      clearTimeout(timer)
      watchers.delete(watcher)
    })
  }

  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://model')
      const asked = { method: request.method ?? '', path: url.pathname, query: url.searchParams }
      const reply = (status: number, body: JsonObject, headers = {}) => {
        const own = { 'content-type': 'application/json', ...(date !== undefined && { date }) }
        response.writeHead(status, { ...own, ...headers })
        response.end(JSON.stringify(body))
      }
      if (request.headers.authorization !== `Bearer ${token}`) {
        reply(401, failure(401, 'Unauthorized').body)
        return
      }
      const what = mishap?.(asked)
      if (what === 'cut') {
        response.destroy()
        return
      }
      if (typeof what === 'object') {
        const headers = what.retryAfter === undefined ? {} : { 'retry-after': String(what.retryAfter) }
        reply(what.status, failure(what.status, 'interfered with').body, headers)
        return
      }
      if (asked.method === 'GET' && asked.query.get('watch') === '1') {
        watch(asked, response)
        return
      }
      if (asked.method !== 'GET') writes.push(`${asked.method} ${asked.path}`)
      const { status, body } = answer(asked, text === '' ? {} : (JSON.parse(text) as JsonObject))
      if (what === 'lost') response.destroy()
      else reply(status, body)
    })
  })
  const port = await listenHere(server)

  return {
    url: `http://127.0.0.1:${port}`,
    token,
    writes,
    interfere: (how) => {
      mishap = how
    },
    compact() {
      compactedAt = state.version
      changes = []
      pages.clear()
    },
    cutWatches() {
      for (const watcher of watchers) watcher.end()
    },
    stopClock(at) {
      date = new Date(at).toUTCString()
    },
    snapshot() {
      const [before, at] = [[...state.objects], state.version]
      return () => {
        state.objects.clear()
        for (const [path, object] of before) state.objects.set(path, object)
        state.version = at
        changes = []
        compactedAt = 0
        for (const watcher of watchers) watcher.end()
      }
    },
    objects: () => state.objects,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function failure(code: number, message: string): Answer {
  return { status: code, body: { kind: 'Status', status: 'Failure', code, message } }
}

/** An event after the version that the watcher knows. */
function tell(watcher: Watcher, path: string, event: WatchEvent): void {
  const isLater = Number(event.object.metadata.resourceVersion) > watcher.from
  if (isLater && isIn(path, watcher.collection)) watcher.send({ ...event })
}
