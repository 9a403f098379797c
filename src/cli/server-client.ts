import { stripVTControlCharacters } from 'node:util'
import type { Settings } from '../config/settings.ts'
import type { Replies } from '../server/routes.ts'
import { connectWords, proxyWords } from '../lib/connect-words.ts'
import { formatDuration } from '../lib/duration.ts'
import { exchange, type Exchanged } from '../platform/http-exchange.ts'
import { faultOfReply, type NetworkSettings, openNetwork } from '../platform/network.ts'
import { readTextFile } from '../platform/text-file.ts'
import { assertTls, networkToOthers } from './compose-network.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { plainText } from './render/terminal.ts'
import { CommandError, type Io, VERSION, misuse } from './io.ts'
import { createHmac } from 'node:crypto'
import { hostname } from 'node:os'
import type { Ledger } from '../contract/ledger.ts'
import { sleep } from '../lib/clock.ts'
import { isLoopbackHost, NO_PROXIES } from '../lib/proxy.ts'
import { openLedgerToRead } from './compose.ts'

export interface ServerAddress {
  readonly command: string
  readonly server: string
  readonly network: NetworkSettings
  /** Sent with each POST. */
  readonly token?: string
}

interface ServerRequest {
  readonly path: string
  /** Of a POST. Undefined: a GET. */
  readonly body?: object
  readonly timeoutMs?: number
}

type ServerReply = Awaited<ReturnType<typeof callServer>>

/** No reply: the daemon might not be running. */
export class NoAnswerError extends CommandError {
  /** The server might have received the request. */
  readonly isSent: boolean

  constructor(message: string, isSent: boolean) {
    super(message)
    this.isSent = isSent
  }
}

/** Enough for 10,000 resources. */
const MOST_BYTES = 256 * 1024 * 1024

/** @throws {NoAnswerError | CommandError} */
async function callServer(
  io: Io,
  address: ServerAddress,
  { path, body, timeoutMs = READ_MS }: ServerRequest,
) {
  const { command, server, token } = address
  await assertTls(address.network.tls)
  const { origin, pathname, search } = new URL(path, server.endsWith('/') ? server : `${server}/`)
  const network = openNetwork(address.network, Math.min(CONNECT_MS, timeoutMs))
  const way = network.wayTo(origin)
  const request = {
    origin,
    path: `${pathname}${search}`,
    method: body === undefined ? ('GET' as const) : ('POST' as const),
    headers: {
      'user-agent': `pipewright/${VERSION}`,
      ...(body !== undefined && { 'content-type': 'application/json', authorization: `Bearer ${token}` }),
    },
    body: body && JSON.stringify(body),
  }
  try {
    const seen = await exchange(way.dispatcher, way.routed(request), {
      clock: io.clock,
      timeoutMs,
      maxReplyBytes: MOST_BYTES,
      signal: io.stop.stopping,
    })
    if (seen.type === 'stopped') throw new CommandError(`${command}: stopped before the server answered.`)
    const fault = seen.type === 'silence' ? seen.fault : faultOfReply(seen, way.proxy)
    if (fault !== undefined)
      throw new NoAnswerError(`${command}: ${server} cannot be reached: ${proxyWords(fault)}.`, false)
    if (seen.type === 'silence' || seen.end !== 'whole') {
      const through = way.proxy === undefined ? '' : ` through the proxy ${way.proxy.address.origin}`
      const [what, check] =
        seen.type === 'reply'
          ? ['gave no usable reply', 'Run the command again.']
          : ['does not answer', 'Start the daemon, or correct the address.']
      throw new NoAnswerError(
        `${command}: ${server} ${what}${through}: ${whyNot(seen, timeoutMs)}. ${check}`,
        seen.type === 'reply' || seen.sent,
      )
    }
    return { status: seen.status, body: parseJson(seen.body) }
  } finally {
    await network.destroy()
  }
}

const CONNECT_MS = 10_000

function whyNot(seen: Exclude<Exchanged, { readonly type: 'stopped' }>, timeoutMs: number): string {
  if (seen.type === 'reply') {
    const end = seen.end === 'too large' ? `is larger than ${MOST_BYTES} bytes` : 'was not complete'
    return `its answer ${end}`
  }
  if (seen.why !== 'error') return `not within ${formatDuration(timeoutMs)}`
  const { code = 'no code', addresses } = seen
  return seen.sent ? `the connection was cut, ${code}` : connectWords(code, addresses)
}

/** @throws {CommandError} with the error of the reply, if the status is no success */
export function expectObject({ command, server }: ServerAddress, { status, body }: ServerReply): JsonObject {
  const object = isObject(body) ? body : undefined
  if (status >= 200 && status < 300 && object !== undefined) return object
  const said = object?.['error']
  if (object === undefined || typeof said !== 'string') {
    throw new CommandError(
      `${command}: the reply of ${server} (${status}) is not from Pipewright. Correct the address.`,
    )
  }
  const hint = typeof object['hint'] === 'string' ? ` ${object['hint']}` : ''
  throw new CommandError(plainText(stripVTControlCharacters(`${command}: ${server}: ${said}.${hint}`)))
}

export async function askServer(io: Io, address: ServerAddress, request: ServerRequest): Promise<JsonObject> {
  return expectObject(address, await callServer(io, address, request))
}

export async function getReply<Path extends keyof Replies>(
  io: Io,
  address: ServerAddress,
  { path, query = '' }: { readonly path: Path; readonly query?: string },
): Promise<Replies[Path]> {
  const reply = await askServer(io, address, { path: `${path}${query}` })
  return reply as unknown as Replies[Path] // the daemon's type
}

const READ_MS = 10_000

/** @throws {CommandError} if no admin token is configured, or its file is empty or unreadable */
export async function adminTokenOf(
  { stop: { stopping: signal } }: Pick<Io, 'stop'>,
  { adminTokenFile }: Pick<Settings, 'adminTokenFile'>,
  command: string,
): Promise<string> {
  if (adminTokenFile === undefined) {
    misuse(
      `${command}: this command needs the admin token of the server. Name its file: --admin-token-file FILE (PIPEWRIGHT_ADMIN_TOKEN_FILE).`,
    )
  }
  const text = await readTextFile(adminTokenFile, { signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    const why = error instanceof Error && 'code' in error ? String(error.code) : (error as Error).message
    throw new CommandError(`${command}: the admin token cannot be read from ${adminTokenFile} (${why}).`)
  })
  if (text.trim() === '')
    throw new CommandError(`${command}: ${adminTokenFile} is empty. Write the admin token to it.`)
  return text.trim()
}

/** @returns undefined: no daemon owns the ledger, or this host cannot reach the daemon */
export async function findOwner(
  io: Io,
  settings: Settings,
  command: string,
): Promise<ServerAddress | undefined> {
  const { server } = settings
  const network = networkToOthers(settings)
  if (server !== undefined)
    return { command, network, server, token: await adminTokenOf(io, settings, command) }
  await using ledger = await openLedgerToRead(settings, io.clock)
  const url = await daemonUrl(ledger)
  if (url === undefined) return undefined
  // Uses no proxy, because a proxy would see the token.
  const direct = { ...network, proxies: NO_PROXIES }
  const owner = { command, network: direct, server: url, token: ownerTokenOf(ledger) }
  // Finds a hung daemon early, because the command itself has a long timeout.
  const reply = await callServer(io, owner, { path: 'healthz' }).catch((error: unknown) => {
    // A killed daemon leaves its address in the Lease. Whether it still runs is decided by the Lease's renewals.
    if (!ledger.isShared || !(error instanceof NoAnswerError)) throw error
    return undefined
  })
  return reply && owner
}

/** ms. A starting daemon replies 503, and the request is repeated for at most this time. */
const START_MS = 30_000
const AGAIN_MS = 250

export async function callOwner(io: Io, owner: ServerAddress, request: ServerRequest): Promise<ServerReply> {
  const signal = io.stop.stopping
  for (let waitedMs = 0; ; waitedMs += AGAIN_MS) {
    const reply = await callServer(io, owner, request).catch((error: unknown) => {
      if (error instanceof NoAnswerError ? !error.isSent : !signal.aborted) throw error
      const said = error instanceof Error ? error.message : String(error)
      throw new CommandError(`${said} The daemon might still carry out the command: see "pipewright status".`)
    })
    if (reply.status !== 503 || waitedMs >= START_MS || signal.aborted) return reply
    await sleep(io.clock, AGAIN_MS, signal).catch(() => undefined)
  }
}

export async function daemonUrl(ledger: Ledger): Promise<string | undefined> {
  const { last } = await ledger.activity()
  if (last?.url === undefined || !(await ledger.owned())) return undefined
  // The owner of a shared ledger can run on another host.
  return ledger.isShared && last.host !== hostname() ? undefined : fromHere(last.url)
}

/** A token that each user who can read the ledger can derive. */
export function ownerTokenOf({ hashKey }: Pick<Ledger, 'hashKey'>): string {
  return createHmac('sha256', hashKey).update('the token of the owner of this ledger').digest('base64url')
}

function fromHere(listen: string): string {
  const url = new URL(listen)
  if (EVERY_ADDRESS.includes(url.hostname)) url.hostname = '127.0.0.1'
  return url.href
}

/** Whether another host cannot use the URL, because it has a loopback or wildcard address. */
export function isOfOneHost(url: URL): boolean {
  return isLoopbackHost(url.hostname) || EVERY_ADDRESS.includes(url.hostname)
}

const EVERY_ADDRESS = ['0.0.0.0', '[::]']
