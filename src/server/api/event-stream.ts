import { randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Key } from '../../kinds/key.ts'
import type { Clock } from '../../lib/clock.ts'
import { CHANGE_TYPES, type PageUpdate } from '../recent-events.ts'
import type { ServerParts } from '../parts.ts'
import { REPLY_HEADERS, RequestError } from '../replies.ts'

/** Changes within this time share an event. */
export const GATHER_MS = 200

/** Interval of events that keep proxies from closing the stream and reveal lost clients. */
export const HEARTBEAT_MS = 15_000

const KEYS_PER_EVENT = 200

/** A client with more unread data is dropped. */
const BACKLOG_BYTES = 256 * 1_024

const CLIENTS = 100

const RETRY_MS = 2_000

export function registerEvents(app: FastifyInstance, parts: ServerParts): void {
  const hub = createEventHub(parts.clock, randomUUID().slice(0, 8))
  const unsubscribe = parts.recentEvents.subscribe((change) => hub.tell(change))
  app.addHook('preClose', async () => {
    unsubscribe()
    hub.close()
  })
  app.get('/api/v1/events', { exposeHeadRoute: false }, (request, reply) => {
    if (hub.isFull())
      throw new RequestError(
        503,
        `too many clients listen already: ${CLIENTS}`,
        'Close some open pages, or poll /api/v1/overview every 15 s.',
      )
    const lastEventId = request.headers['last-event-id']
    reply.hijack()
    reply.raw.writeHead(200, {
      ...REPLY_HEADERS,
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no', // nginx would buffer events
    })
    hub.add(reply.raw, typeof lastEventId === 'string' ? lastEventId : undefined)
  })
}

/** @param epoch makes event ids differ from another process's */
export function createEventHub(clock: Clock, epoch: string) {
  const clients = new Set<Writable>()
  /** Clients that had unread data at the last heartbeat. */
  const stalled = new Set<Writable>()
  const gathered = new Map<PageUpdate['type'], Set<Key>>()
  let sequence = 0
  let cancelFlush: (() => void) | undefined
  let cancelHeartbeat = clock.after(HEARTBEAT_MS, heartbeat)

  function heartbeat(): void {
    for (const client of clients) {
      if (client.writableLength === 0) continue
      if (stalled.has(client)) drop(client)
      else stalled.add(client)
    }
    send(aliveText())
    cancelHeartbeat = clock.after(HEARTBEAT_MS, heartbeat)
  }

  function aliveText(): string {
    return `event: alive\ndata: ${JSON.stringify({ now: clock.now() })}\n\n`
  }

  function send(text: string): void {
    for (const client of clients) {
      if (client.writableLength > BACKLOG_BYTES) drop(client)
      else client.write(text)
    }
  }

  function drop(client: Writable): void {
    forget(client)
    client.destroy()
  }

  function forget(client: Writable): void {
    clients.delete(client)
    stalled.delete(client)
  }

  function flush(): void {
    cancelFlush = undefined
    for (const [type, keys] of gathered) {
      sequence += 1
      send(
        eventText(
          `${epoch}-${sequence}`,
          type,
          keys.size > KEYS_PER_EVENT ? undefined : [...keys].toSorted(),
        ),
      )
    }
    gathered.clear()
  }

  return {
    isFull: () => clients.size >= CLIENTS,
    /** @param lastEventId header `Last-Event-ID`. If it is outdated, the client must read everything again */
    add(client: Writable, lastEventId: string | undefined) {
      clients.add(client)
      client.on('close', () => forget(client))
      client.on('drain', () => stalled.delete(client))
      client.on('error', () => drop(client))
      const id = `${epoch}-${sequence}`
      // This first event shows the page that no proxy blocks events.
      client.write(`retry: ${RETRY_MS}\nid: ${id}\n${aliveText()}`)
      if (lastEventId !== undefined && lastEventId !== id) {
        for (const type of CHANGE_TYPES) client.write(eventText(id, type, undefined))
      }
    },
    tell({ type, keys }: PageUpdate) {
      if (clients.size === 0) {
        sequence += 1 // a reconnecting client notices the change
        return
      }
      const known = gathered.getOrInsertComputed(type, () => new Set())
      for (const key of keys) if (known.size <= KEYS_PER_EVENT) known.add(key)
      cancelFlush ??= clock.after(GATHER_MS, flush)
    },
    close() {
      cancelFlush?.()
      cancelHeartbeat()
      for (const client of clients) client.end()
      clients.clear()
    },
  }
}

/** `all`: there are too many keys, or the change is not about single resources. */
function eventText(id: string, type: PageUpdate['type'], keys: readonly Key[] | undefined): string {
  const data = { type, keys: keys ?? [], all: keys === undefined || keys.length === 0 }
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}
