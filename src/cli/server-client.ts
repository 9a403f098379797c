import { readFile } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'
import type { Settings } from '../config/settings.ts'
import type { Replies } from '../server/routes.ts'
import { systemClock } from '../daemon/system-clock.ts'
import { connectWords, proxyWords } from '../lib/connect-words.ts'
import { formatDuration } from '../lib/duration.ts'
import { exchange, type Seen } from '../platform/http-exchange.ts'
import { faultOfReply, type NetworkSettings, openNetwork } from '../platform/network.ts'
import { assertTls } from './compose-network.ts'
import { retryAfterMs } from '../lib/retry-after.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { printable } from './render/terminal.ts'
import { CommandError, EXIT, type Io, VERSION } from './io.ts'

/* Asks a running daemon, for the commands that can. What goes wrong is said with the name of the command. */

/** One request to a running daemon. */
export interface ServerCall {
  /** As it was called, for messages. */
  readonly command: string
  readonly server: string
  /** How it is reached. */
  readonly network: NetworkSettings
  readonly method: 'GET' | 'POST'
  /** Relative to the address of the server. */
  readonly path: string
  /** Undefined: the request changes nothing, and needs none. */
  readonly token: string | undefined
  readonly body: { readonly type: string; readonly text: string } | undefined
  readonly timeoutMs: number
}

/** Who is asked, and how: what all calls of a command have in common. */
export type Asked = Pick<ServerCall, 'command' | 'server' | 'network'>

export interface ServerReply {
  readonly status: number
  /** Undefined when it is no JSON. */
  readonly body: unknown
  /** As it asks: ms. */
  readonly retryAfterMs: number | undefined
}

/** No answer came: it may not run, or not any more. */
export class NoAnswerError extends CommandError {}

/** Room for what is said of 10,000 resources. */
const MOST_BYTES = 256 * 1024 * 1024

/** @throws {NoAnswerError | CommandError} the latter when it is stopped meanwhile, or a file of TLS cannot be used */
export async function callServer(io: Io, call: ServerCall): Promise<ServerReply> {
  const { command, server, timeoutMs, token, body } = call
  await assertTls(call.network.tls)
  const { origin, pathname, search } = new URL(call.path, server.endsWith('/') ? server : `${server}/`)
  const network = openNetwork(call.network, Math.min(CONNECT_MS, timeoutMs))
  const way = network.wayTo(origin)
  const request = {
    origin,
    path: `${pathname}${search}`,
    method: call.method,
    headers: {
      'user-agent': `pipewright/${VERSION}`,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': body.type }),
    },
    body: body?.text,
  }
  try {
    const seen = await exchange(way.dispatcher, way.routed(request), {
      clock: systemClock,
      timeoutMs,
      maxReplyBytes: MOST_BYTES,
      signal: io.stop.stopping,
      mayStart: () => true,
      onSent: () => undefined,
      onWhole: () => undefined,
    })
    if (seen.type === 'stopped') throw new CommandError(`${command}: stopped before the server answered.`)
    const fault = seen.type === 'silence' ? seen.fault : faultOfReply(seen, way.proxy)
    if (fault !== undefined)
      throw new NoAnswerError(`${command}: ${server} cannot be asked: ${proxyWords(fault)}.`)
    if (seen.type === 'silence' || seen.end !== 'whole') {
      const through = way.proxy === undefined ? '' : ` through the proxy ${way.proxy.address.origin}`
      const check = 'Check that the daemon runs, and that this is its address.'
      throw new NoAnswerError(
        `${command}: ${server} does not answer${through} (${whyNot(seen, timeoutMs)}). ${check}`,
      )
    }
    return {
      status: seen.status,
      body: parsed(seen.body),
      retryAfterMs: retryAfterMs(seen.headers, systemClock.now()),
    }
  } finally {
    await network.destroy()
  }
}

const CONNECT_MS = 10_000

type Failed = Extract<Seen, { readonly type: 'silence' | 'reply' }>

/** Why there is no whole answer. */
function whyNot(seen: Failed, timeoutMs: number): string {
  if (seen.type === 'reply') {
    const end = seen.end === 'too large' ? `is larger than ${MOST_BYTES} bytes` : 'was not complete'
    return `its answer ${end}`
  }
  if (seen.why !== 'error') return `not within ${formatDuration(timeoutMs)}`
  const { code = 'no code' } = seen
  return seen.sent ? `the connection was cut, ${code}` : `${connectWords(code)}, ${code}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The body of an answer that is as hoped for. @throws {CommandError} with what the server says of any other */
export function expectObject(
  { command, server }: Pick<ServerCall, 'command' | 'server'>,
  { status, body }: Pick<ServerReply, 'status' | 'body'>,
): JsonObject {
  const object = isObject(body) ? body : undefined
  if (status >= 200 && status < 300 && object !== undefined) return object
  const said = object?.['error']
  if (object === undefined || typeof said !== 'string') {
    throw new CommandError(
      `${command}: ${server} answered ${status}, and not as Pipewright does. Check the address.`,
    )
  }
  const hint = typeof object['hint'] === 'string' ? ` ${object['hint']}` : ''
  throw new CommandError(printable(stripVTControlCharacters(`${command}: ${server}: ${said}.${hint}`)))
}

/** One of the replies that everybody may read. @throws {CommandError} */
export async function getReply<Path extends keyof Replies>(
  io: Io,
  call: Asked,
  { path, query = '' }: { readonly path: Path; readonly query?: string },
): Promise<Replies[Path]> {
  const reply = await callServer(io, {
    ...call,
    method: 'GET',
    path: `${path}${query}`,
    token: undefined,
    body: undefined,
    timeoutMs: READ_MS,
  })
  return expectObject(call, reply) as unknown as Replies[Path] // as the daemon made it
}

/** A daemon answers each of these at once: ms. */
const READ_MS = 30_000

/** The token without which a server does nothing. @throws {CommandError} */
export async function adminTokenOf(
  { adminTokenFile }: Pick<Settings, 'adminTokenFile'>,
  command: string,
): Promise<string> {
  if (adminTokenFile === undefined) {
    const why =
      'it needs the admin token of the server. Give the file that holds it with --admin-token-file FILE'
    throw new CommandError(`${command}: ${why} (PIPEWRIGHT_ADMIN_TOKEN_FILE).`, EXIT.usage)
  }
  const text = await readFile(adminTokenFile, 'utf8').catch((error: unknown) => {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new CommandError(`${command}: the admin token cannot be read from ${adminTokenFile} (${why}).`)
  })
  if (text.trim() === '')
    throw new CommandError(`${command}: ${adminTokenFile} is empty; it is to hold the admin token.`)
  return text.trim()
}
