import { setTimeout as wait } from 'node:timers/promises'
import { Agent, request as send } from 'undici'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { retryAfterMs, type ReplyHeaders } from '../../lib/retry-after.ts'
import type { ClusterAccess, Credentials } from './cluster-access.ts'
import { ClusterError, notKubernetes, refused, unanswered } from './cluster-error.ts'

/** The Kubernetes API, as far as a ledger needs it: objects of one namespace, read, written and watched. */
export interface ClusterApi extends AsyncDisposable {
  /** How far the wall clock of this host is ahead of that of the API, by its last reply: ms, to a second or so. */
  aheadMs(): number
  /** @throws {ClusterError} */
  get(path: string): Promise<KubeObject>
  /** All of a collection at one moment, as it is now. @throws {ClusterError} */
  list(path: string, selector: string): Promise<Listed>
  /** The version that a collection is at now. @throws {ClusterError} */
  versionOf(path: string, selector: string): Promise<string>
  /** @throws {ClusterError} status 409 where there is one of that name */
  create(path: string, object: JsonObject): Promise<KubeObject>
  /** Replaces what is at the `metadata.resourceVersion` of the object. @throws {ClusterError} status 409 where it is at another one */
  replace(path: string, object: JsonObject): Promise<KubeObject>
  /**
   * Tells what happens to a collection after a version, until the API or the signal ends it.
   * @throws {ClusterError} status 410 where that version is too old: all of it is to be listed again
   */
  watch(
    path: string,
    from: WatchFrom,
    onEvent: (event: WatchEvent) => void,
    signal: AbortSignal,
  ): Promise<void>
}

export interface KubeObject extends JsonObject {
  readonly metadata: ObjectMeta
}

export interface ObjectMeta extends JsonObject {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

export interface Listed {
  readonly items: readonly KubeObject[]
  readonly resourceVersion: string
}

export interface WatchFrom {
  readonly selector: string
  readonly resourceVersion: string
}

/**
 * Versions of the API grow, within one cluster, with each write: of two states of one object the one with the greater version is the later
 * one. (Kubernetes promises that they can be compared as numbers.)
 */
export function isLater(version: string, than: string): boolean {
  return BigInt(version) > BigInt(than)
}

/** `BOOKMARK`: nothing happened up to this version. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: KubeObject
}

export interface ClusterApiOptions {
  readonly access: ClusterAccess
  readonly userAgent: string
  /** Until a reply has come to its end: ms. */
  readonly timeoutMs: number
  /** ms since the epoch. */
  readonly now: () => number
}

const PAGE = 500
const HALF_SECOND_MS = 500
/** Clocks that are no further apart are the same: ms. */
const SKEW_MS = 5_000
/** A list whose pages are too old by the time they are asked for begins again, so often. */
const LIST_TRIES = 5
/** The API asks for patience (429) before it has done anything: it is asked again so often. */
const BUSY_TRIES = 6
const BUSY_WAIT_MS = 1_000
/** A watch is ended by the API after this, and begun again: one whose connection was lost without a word is noticed. Seconds. */
export const WATCH_S = 60
/** How much later than that a watch is given up: ms. */
const WATCH_LATE_MS = 10_000

export function createClusterApi({ access, userAgent, timeoutMs, now }: ClusterApiOptions): ClusterApi {
  let ahead = 0
  let agent: { readonly of: string; readonly is: Agent } | undefined

  /** Another one where the certificates have changed. */
  function agentFor({ tls }: Credentials): Agent {
    const of = JSON.stringify(tls)
    if (agent?.of === of) return agent.is
    agent?.is.close().catch(() => undefined)
    agent = { of, is: new Agent({ connect: { timeout: timeoutMs, ...tls }, allowH2: false }) }
    return agent.is
  }

  function noteTime(date: string | string[] | undefined): void {
    const there = Date.parse(String(date)) + HALF_SECOND_MS
    if (!Number.isNaN(there)) ahead = now() - there
  }

  async function sent(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    {
      body,
      signal,
      bodyTimeout,
    }: { readonly body?: JsonObject; readonly signal: AbortSignal; readonly bodyTimeout: number },
  ) {
    const credentials = await access.current().catch((error: unknown) => {
      throw unanswered(error)
    })
    const headers = {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(credentials.token !== undefined && { authorization: `Bearer ${credentials.token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    try {
      const url = `${access.server}${path}`
      const text = body === undefined ? null : JSON.stringify(body)
      const dispatcher = agentFor(credentials)
      return await send(url, {
        dispatcher,
        method,
        headers,
        body: text,
        signal,
        headersTimeout: timeoutMs,
        bodyTimeout,
      })
    } catch (error) {
      throw unanswered(error)
    }
  }

  async function ask(method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonObject): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      const signal = AbortSignal.timeout(timeoutMs)
      const reply = await sent(method, path, { ...(body && { body }), signal, bodyTimeout: timeoutMs })
      noteTime(reply.headers['date'])
      const text = await textOf(reply.body)
      const { statusCode: status, headers } = reply
      if (status >= 200 && status < 300) return parsed(text)
      if (status !== 429 || tries === BUSY_TRIES) throw refused(status, parsed(text))
      await wait(Math.min(retryAfterMs(headers as ReplyHeaders, now()) ?? BUSY_WAIT_MS, timeoutMs))
    }
  }

  async function object(...asked: Parameters<typeof ask>): Promise<KubeObject> {
    return asObject(await ask(...asked))
  }

  async function pages(path: string, selector: string): Promise<Listed> {
    const items: KubeObject[] = []
    for (let from = ''; ;) {
      const { page, more, resourceVersion } = await pageOf(path, selector, PAGE, from)
      for (const item of page) items.push(asObject(item))
      from = more
      if (more === '') return { items, resourceVersion }
    }
  }

  async function pageOf(path: string, selector: string, limit: number, from = '') {
    const query = new URLSearchParams({
      labelSelector: selector,
      limit: String(limit),
      ...(from !== '' && { continue: from }),
    })
    const reply = await ask('GET', `${path}?${query.toString()}`)
    if (!isObject(reply) || !Array.isArray(reply['items']) || !isObject(reply['metadata']))
      throw notKubernetes(reply)
    const { continue: next, resourceVersion } = reply['metadata']
    if (typeof resourceVersion !== 'string') throw notKubernetes(reply['metadata'])
    return { page: reply['items'], more: typeof next === 'string' ? next : '', resourceVersion }
  }

  return {
    // A second more or less is nothing: its header has no more than seconds.
    aheadMs: () => (Math.abs(ahead) < SKEW_MS ? 0 : ahead),
    get: (path) => object('GET', path),
    async list(path, selector) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await pages(path, selector)
        } catch (error) {
          if (!(error instanceof ClusterError) || error.status !== 410 || tries === LIST_TRIES) throw error
        }
      }
    },
    versionOf: async (path, selector) => (await pageOf(path, selector, 1)).resourceVersion,
    create: (path, body) => object('POST', path, body),
    replace: (path, body) => object('PUT', path, body),
    async watch(path, { selector, resourceVersion }, onEvent, signal) {
      const query = new URLSearchParams({
        watch: '1',
        allowWatchBookmarks: 'true',
        timeoutSeconds: String(WATCH_S),
        labelSelector: selector,
        resourceVersion,
      })
      const late = AbortSignal.timeout(WATCH_S * 1_000 + WATCH_LATE_MS)
      const either = AbortSignal.any([signal, late])
      const reply = await sent('GET', `${path}?${query.toString()}`, { signal: either, bodyTimeout: 0 })
      if (reply.statusCode !== 200) throw refused(reply.statusCode, parsed(await textOf(reply.body)))
      reply.body.setEncoding('utf8')
      let rest = ''
      try {
        for await (const chunk of reply.body as AsyncIterable<string>) {
          const lines = (rest + chunk).split('\n')
          rest = lines.pop() ?? ''
          for (const line of lines) if (line !== '') onEvent(asEvent(parsed(line)))
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

/** @throws {ClusterError} where it breaks off */
async function textOf(body: { text(): Promise<string> }): Promise<string> {
  try {
    return await body.text()
  } catch (error) {
    throw unanswered(error)
  }
}

function asObject(value: unknown): KubeObject {
  const meta = isObject(value) ? value['metadata'] : undefined
  const isOne =
    isObject(meta) && typeof meta['name'] === 'string' && typeof meta['resourceVersion'] === 'string'
  if (!isOne) throw notKubernetes(value)
  return value as KubeObject
}

function asEvent(value: unknown): WatchEvent {
  const { type, object } = isObject(value) ? value : {}
  if (type === 'ERROR') throw refused(isObject(object) ? Number(object['code']) : 500, object)
  if (type === 'BOOKMARK' && isObject(object)) return { type, object: object as KubeObject }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') throw notKubernetes(value)
  return { type, object: asObject(object) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
