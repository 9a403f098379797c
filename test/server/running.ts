import { onTestFinished } from 'vitest'
import type { ServerParts } from '../../src/server/parts.ts'
import { startServer, type Server } from '../../src/server/server.ts'

/** A server that the end of the test closes. */
export async function running(parts: ServerParts): Promise<Server> {
  const server = await startServer(parts)
  onTestFinished(() => server.close())
  return server
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const reply = await fetch(url, init)
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Answer['body'] } // all JSON answers are objects
}
