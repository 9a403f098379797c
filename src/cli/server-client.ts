import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { request } from 'undici'
import type { Settings } from '../config/settings.ts'
import type { Replies } from '../server/routes.ts'
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
  readonly method: 'GET' | 'POST'
  /** Relative to the address of the server. */
  readonly path: string
  /** Undefined: the request changes nothing, and needs none. */
  readonly token: string | undefined
  readonly body: { readonly type: string; readonly text: string } | undefined
  readonly timeoutMs: number
}

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

/** @throws {NoAnswerError | CommandError} the latter when it is stopped meanwhile */
export async function callServer(io: Io, call: ServerCall): Promise<ServerReply> {
  const { command, server, timeoutMs, token, body } = call
  const { stopping } = io.stop
  try {
    const reply = await request(new URL(call.path, server.endsWith('/') ? server : `${server}/`), {
      method: call.method,
      headers: {
        'user-agent': `pipewright/${VERSION}`,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': body.type }),
      },
      body: body?.text ?? null,
      signal: AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
    return {
      status: reply.statusCode,
      body: parsed(await textOf(reply.body)),
      retryAfterMs: retryAfterMs(reply.headers, Date.now()),
    }
  } catch (error) {
    if (stopping.aborted) throw new CommandError(`${command}: stopped before the server answered.`)
    throw new NoAnswerError(
      `${command}: ${server} does not answer (${reasonOf(error)}). Check that the daemon runs, and that this is its address.`,
    )
  }
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) throw new Error(`its answer is larger than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
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
  call: Pick<ServerCall, 'command' | 'server'>,
  { path, query = '' }: { readonly path: Path; readonly query?: string },
): Promise<Replies[Path]> {
  const whole = {
    ...call,
    method: 'GET',
    path: `${path}${query}`,
    token: undefined,
    body: undefined,
  } as const
  const deadline = performance.now() + READ_MS
  for (;;) {
    const reply = await callServer(io, { ...whole, timeoutMs: READ_MS })
    if (reply.status !== BUSY || performance.now() > deadline)
      return expectObject(call, reply) as unknown as Replies[Path] // as the daemon made it
    await setTimeout(ASK_AGAIN_MS, undefined, { signal: io.stop.stopping }).catch(() => undefined)
  }
}

/** Too many others ask as well. */
const BUSY = 429

const ASK_AGAIN_MS = 1_000

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
