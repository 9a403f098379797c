import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent, request as send } from 'undici'
import { timeLimit, type Clock } from '../../lib/clock.ts'
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts'
import { retryAfterMs } from '../../lib/retry.ts'
import type { ClusterAccess, Credentials } from './cluster-access.ts'
import { ClusterError, notKubernetes, errorOfReply, unanswered } from './cluster-error.ts'

export type ClusterApi = ReturnType<typeof createClusterApi>

export interface KubeObject extends JsonObject {
  readonly metadata: JsonObject & {
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
  }
}

/** Kubernetes promises that versions are growing numbers. */
export function isLater(version: string, than: string): boolean {
  return BigInt(version) > BigInt(than)
}

/** `BOOKMARK`: all changes up to the object's version were sent. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: KubeObject
}

const PAGE = 500
const HALF_SECOND_MS = 500
/** Smaller clock differences count as 0, because the `Date` header has whole seconds. */
const SKEW_MS = 5_000
/** Attempts to list. A list starts again if its continue token expires. */
const LIST_TRIES = 5
/** Attempts after status 429, which means that the API did nothing. */
const BUSY_TRIES = 6
const BUSY_WAIT_MS = 1_000
/** Duration of one watch in seconds. A silently lost connection is noticed when the watch ends. */
export const WATCH_S = 60
/** ms after {@link WATCH_S} until a watch that does not end is aborted. */
const WATCH_LATE_MS = 10_000

export function createClusterApi(options: {
  readonly access: ClusterAccess
  readonly userAgent: string
  readonly timeoutMs: number
  readonly clock: Clock
}) {
  const { access, userAgent, timeoutMs, clock } = options
  let ahead = 0
  let agent: { readonly of: string; readonly is: Dispatcher } | undefined

  function agentFor({ tls }: Credentials): Dispatcher {
    const of = JSON.stringify(tls)
    if (agent?.of === of) return agent.is
    agent?.is.close().catch(() => undefined)
    agent = { of, is: agentOf(access.proxy, tls, timeoutMs) }
    return agent.is
  }

  function noteTime(date: string | string[] | undefined): void {
    const there = Date.parse(String(date)) + HALF_SECOND_MS
    if (!Number.isNaN(there)) ahead = clock.now() - there
  }

  async function sent(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    signal: AbortSignal,
    { credentials, body }: { readonly credentials: Credentials; readonly body?: JsonObject | undefined },
  ) {
    const headers = {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(credentials.token !== undefined && { authorization: `Bearer ${credentials.token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    try {
      return await send(`${access.server}${path}`, {
        dispatcher: agentFor(credentials),
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      })
    } catch (error) {
      throw unanswered(error, access.proxy)
    }
  }

  /** Runs before a request's time limit begins, because a credential plugin can be slow. */
  async function login(): Promise<Credentials> {
    try {
      return await access.current(clock.now())
    } catch (error) {
      throw unanswered(error)
    }
  }

  async function ask(method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonObject): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      const credentials = await login()
      using limit = timeLimit(clock, timeoutMs)
      const reply = await sent(method, path, limit.signal, { credentials, body })
      noteTime(reply.headers['date'])
      const text = await textOf(reply.body)
      const { statusCode: status, headers } = reply
      if (status >= 200 && status < 300) return parseJson(text) ?? text
      if (status === 401 && tries === 1 && access.renew?.() === true) continue
      if (status !== 429 || tries === BUSY_TRIES) throw errorOfReply(status, parseJson(text))
      const afterMs = retryAfterMs(headers, clock.now()) ?? BUSY_WAIT_MS
      await new Promise<void>((resolve) => void clock.after(Math.min(afterMs, timeoutMs), resolve))
    }
  }

  async function object(...asked: Parameters<typeof ask>): Promise<KubeObject> {
    return asObject(await ask(...asked))
  }

  async function pages(path: string) {
    const byName = new Map<string, KubeObject>()
    for (let from = '', known = -1; ; known = byName.size) {
      const { page, more, resourceVersion } = await pageOf(path, PAGE, from)
      for (const item of page) byName.set(item.metadata.name, item)
      if (more === '') {
        const items: readonly KubeObject[] = [...byName.values()]
        return { items, resourceVersion }
      }
      if (byName.size === known) throw notKubernetes('it repeats a page')
      from = more
    }
  }

  async function pageOf(path: string, limit: number, from = '') {
    const query = new URLSearchParams({ limit: String(limit), ...(from !== '' && { continue: from }) })
    const reply = await ask('GET', `${path}?${query.toString()}`)
    if (!isObject(reply) || !Array.isArray(reply['items']) || !isObject(reply['metadata']))
      throw notKubernetes(reply)
    const { continue: next, resourceVersion } = reply['metadata']
    if (typeof resourceVersion !== 'string') throw notKubernetes(reply['metadata'])
    return { page: reply['items'].map(asObject), more: typeof next === 'string' ? next : '', resourceVersion }
  }

  return {
    /** How far this host's clock is ahead of the API's, in ms. */
    aheadMs: () => (Math.abs(ahead) < SKEW_MS ? 0 : ahead),
    get: (path: string) => object('GET', path),
    async list(path: string) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await pages(path)
        } catch (error) {
          if (!(error instanceof ClusterError) || error.status !== 410 || tries === LIST_TRIES) throw error
        }
      }
    },
    versionOf: async (path: string) => (await pageOf(path, 1)).resourceVersion,
    /** @throws {ClusterError} status 409 if the name exists */
    create: (path: string, body: JsonObject) => object('POST', path, body),
    /** Compare-and-set on `metadata.resourceVersion`. @throws {ClusterError} status 409 on a mismatch */
    replace: (path: string, body: JsonObject) => object('PUT', path, body),
    /** Resolves when the API or `signal` ends the watch. @throws {ClusterError} status 410: version too old */
    async watch(
      path: string,
      resourceVersion: string,
      onEvent: (event: WatchEvent) => void,
      signal: AbortSignal,
    ) {
      const query = new URLSearchParams({
        watch: '1',
        allowWatchBookmarks: 'true',
        timeoutSeconds: String(WATCH_S),
        resourceVersion,
      })
      const credentials = await login()
      using limit = timeLimit(clock, WATCH_S * 1_000 + WATCH_LATE_MS)
      const either = AbortSignal.any([signal, limit.signal])
      const reply = await sent('GET', `${path}?${query.toString()}`, either, { credentials })
      if (reply.statusCode !== 200) throw errorOfReply(reply.statusCode, parseJson(await textOf(reply.body)))
      reply.body.setEncoding('utf8')
      let rest = ''
      try {
        for await (const chunk of reply.body as AsyncIterable<string>) {
          const lines = (rest + chunk).split('\n')
          rest = lines.pop() ?? ''
          for (const line of lines) if (line !== '') onEvent(asEvent(parseJson(line) ?? line))
        }
      } catch (error) {
        if (error instanceof ClusterError) throw error
        if (!signal.aborted) throw unanswered(error)
      }
    },
    async [Symbol.asyncDispose]() {
      await agent?.is.destroy()
    },
  }
}

/** @returns undefined after status 404 */
export function findObject({ get }: Pick<ClusterApi, 'get'>, path: string): Promise<KubeObject | undefined> {
  return get(path).catch((error: unknown) => {
    if (error instanceof ClusterError && error.status === 404) return undefined
    throw error
  })
}

function agentOf(proxy: string | undefined, tls: Credentials['tls'], timeoutMs: number): Dispatcher {
  const limits = {
    timeout: timeoutMs,
    autoSelectFamilyAttemptTimeout: Math.ceil(timeoutMs / 4),
    allowH2: false,
  }
  const connect = buildConnector({ ...limits, ...tls })
  if (proxy === undefined) {
    const { servername } = tls
    // Passes `servername` here, because undici would use the name in the URL instead.
    return new Agent({
      allowH2: false,
      connect: (to, done) => connect({ ...to, ...(servername && { servername }) }, done),
    })
  }
  return new ProxyAgent({
    uri: proxy,
    allowH2: false,
    proxyTls: limits,
    requestTls: { ...limits, ...tls },
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: timeoutMs }),
  })
}

async function textOf(body: { text(): Promise<string> }): Promise<string> {
  try {
    return await body.text()
  } catch (error) {
    throw unanswered(error)
  }
}

function asObject(value: unknown): KubeObject {
  const meta = isObject(value) ? value['metadata'] : undefined
  if (!isObject(meta) || typeof meta['name'] !== 'string' || typeof meta['resourceVersion'] !== 'string')
    throw notKubernetes(value)
  return value as KubeObject
}

function asEvent(value: unknown): WatchEvent {
  const { type, object } = isObject(value) ? value : {}
  if (type === 'ERROR') throw errorOfReply(isObject(object) ? Number(object['code']) : 500, object)
  if (type === 'BOOKMARK' && isObject(object)) return { type, object: object as KubeObject }
  return { type: type === 'DELETED' ? type : 'MODIFIED', object: asObject(object) }
}
