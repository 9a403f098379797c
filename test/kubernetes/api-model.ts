import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { listenHere } from '../support/listen-here.ts'

/*
 * As much of the Kubernetes API as a ledger uses: objects with optimistic locking, lists in pages, watches with bookmarks. The tests that
 * use it run against a real one too (`test/slow`), so that it cannot drift from that.
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
  /** Ends all watches. */
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

interface Stored extends JsonObject {
  readonly metadata: JsonObject & { readonly name: string; readonly resourceVersion: string }
}

interface Change {
  readonly version: number
  readonly path: string
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: Stored
}

interface Watcher {
  readonly collection: string
  readonly selector: string
  /** What happens until this version is not told: after a restore of the cluster, its versions come once more. */
  readonly from: number
  send(event: JsonObject): void
  end(): void
}

const COLLECTION =
  /^(\/api\/v1|\/apis\/(?:coordination\.k8s\.io|pipewright\.dev)\/v1)\/namespaces\/([^/]+)\/(secrets|leases|pipewrightrecords)$/

export async function startApiModel(): Promise<ApiModel> {
  const token = randomUUID()
  let objects = new Map<string, Stored>()
  let changes: Change[] = []
  let version = 100
  let compactedAt = 0
  let date: string | undefined
  let mishap: ((request: Asked) => Mishap) | undefined
  const watchers = new Set<Watcher>()
  const writes: string[] = []
  const pages = new Map<string, readonly Stored[]>()

  function publish(type: Change['type'], path: string, object: Stored): void {
    const collection = path.slice(0, path.lastIndexOf('/'))
    changes.push({ version, path, type, object })
    for (const watcher of watchers)
      if (watcher.collection === collection && version > watcher.from && isSelected(object, watcher.selector))
        watcher.send({ type, object })
  }

  function written(path: string, object: JsonObject, before: Stored | undefined): Stored {
    version += 1
    const metadata = {
      creationTimestamp: before?.metadata['creationTimestamp'] ?? new Date().toISOString(),
      uid: before?.metadata['uid'] ?? randomUUID(),
      ...(isObject(object['metadata']) ? object['metadata'] : {}),
      resourceVersion: String(version),
    }
    const stored = { ...object, metadata } as unknown as Stored
    objects.set(path, stored)
    publish(before === undefined ? 'ADDED' : 'MODIFIED', path, stored)
    return stored
  }

  function answer({ method, path, query }: Asked, body: JsonObject): { status: number; body: JsonObject } {
    const collection = COLLECTION.test(path) ? path : path.slice(0, path.lastIndexOf('/'))
    if (!COLLECTION.test(collection)) return failure(404, 'the server could not find the requested resource')
    const isWhole = path === collection
    const now = objects.get(path)
    const meta = isObject(body['metadata']) ? body['metadata'] : {}
    if (method === 'GET' && isWhole) return pageOf(collection, query)
    if (method === 'GET')
      return now === undefined ? failure(404, `${path} not found`) : { status: 200, body: now }
    if (method === 'POST' && isWhole) {
      const own = `${collection}/${nameIn(meta)}`
      if (objects.has(own)) return failure(409, `${nameIn(meta)} already exists`)
      if (meta['resourceVersion'] !== undefined)
        return failure(400, 'resourceVersion should not be set on objects to be created')
      return { status: 201, body: written(own, body, undefined) }
    }
    if (now === undefined) return failure(404, `${path} not found`)
    if (method === 'PUT') {
      if (meta['resourceVersion'] === undefined)
        return failure(422, 'metadata.resourceVersion: Invalid value: 0: must be specified for an update')
      if (meta['resourceVersion'] !== now.metadata.resourceVersion)
        return failure(409, 'the object has been modified; please apply your changes to the latest version')
      return { status: 200, body: written(path, body, now) }
    }
    const preconditions = isObject(body['preconditions']) ? body['preconditions'] : {}
    const { resourceVersion = now.metadata.resourceVersion } = preconditions
    if (resourceVersion !== now.metadata.resourceVersion)
      return failure(409, 'the precondition does not hold')
    version += 1
    objects.delete(path)
    publish('DELETED', path, { ...now, metadata: { ...now.metadata, resourceVersion: String(version) } })
    return { status: 200, body: { kind: 'Status', status: 'Success' } }
  }

  function pageOf(collection: string, query: URLSearchParams): { status: number; body: JsonObject } {
    const [list, from = '0', at = String(version)] = query.get('continue')?.split(' ') ?? []
    const all =
      (list === undefined ? undefined : pages.get(list)) ??
      [...objects]
        .filter(([path]) => path.slice(0, path.lastIndexOf('/')) === collection)
        .map(([, object]) => object)
        .filter((object) => isSelected(object, query.get('labelSelector') ?? ''))
        .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
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
    const selector = query.get('labelSelector') ?? ''
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const send = (event: JsonObject) => void response.write(`${JSON.stringify(event)}\n`)
    if (from < compactedAt) {
      const { body } = failure(410, `too old resource version: ${from}`)
      send({ type: 'ERROR', object: body })
      response.end()
      return
    }
    for (const change of changes)
      if (
        change.version > from &&
        change.path.slice(0, change.path.lastIndexOf('/')) === path &&
        isSelected(change.object, selector)
      )
        send({ type: change.type, object: change.object })
    if (from <= version)
      send({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } })
    const watcher: Watcher = { collection: path, selector, from, send, end: () => response.destroy() }
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
      compactedAt = version
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
      const [before, at] = [new Map(objects), version]
      return () => {
        objects = new Map(before)
        version = at
        changes = []
        compactedAt = 0
        for (const watcher of watchers) watcher.end()
      }
    },
    objects: () => objects,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function nameIn(meta: JsonObject): string {
  return typeof meta['name'] === 'string' ? meta['name'] : ''
}

function failure(code: number, message: string): { status: number; body: JsonObject } {
  return { status: code, body: { kind: 'Status', status: 'Failure', code, message } }
}

function isSelected({ metadata }: Stored, selector: string): boolean {
  if (selector === '') return true
  const [label = '', value] = selector.split('=')
  const { labels } = metadata
  return isObject(labels) && labels[label] === value
}
