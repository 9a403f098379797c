import type { Socket } from 'node:net'
import { callbackify } from 'node:util'
import { buildConnector, Client, errors } from 'undici'
import { aborted } from '../lib/clock.ts'
import type { ProxyAddress, ProxyFault } from '../lib/proxy.ts'
import { socketCode, NoConnectionError, openTcp } from './tcp-connection.ts'
import type { TlsSource } from './tls-files.ts'

export interface Opened {
  readonly socket: Socket
  /** The TCP connection below TLS: to the server, or to the proxy. */
  readonly tcp: Socket
}

export class ProxyError extends Error {
  readonly fault: ProxyFault

  constructor(fault: ProxyFault) {
    super(`no way through the proxy: ${fault.type}`)
    this.name = 'ProxyError'
    this.fault = fault
  }
}

export type OpenConnection = (options: buildConnector.Options) => Promise<Opened>

/** @param timeoutMs limit for TCP, and again for TLS */
export function openDirectly(tls: TlsSource, timeoutMs: number): OpenConnection {
  const secure = securing(tls, timeoutMs)
  return async (options) => {
    const port = Number(options.port || defaultPort(options))
    const tcp = await openTcp({ host: options.hostname, port }, timeoutMs)
    const socket = options.protocol === 'https:' ? await secure(tcp, options) : tcp
    return { socket, tcp }
  }
}

export function openToProxy(proxy: ProxyAddress, toItself: OpenConnection): OpenConnection {
  return async (options) => {
    try {
      return await toItself(options)
    } catch (error) {
      const addresses = error instanceof NoConnectionError ? error.addresses : []
      throw new ProxyError({ type: 'unreachable', proxy, code: socketCode(error), addresses })
    }
  }
}

export function openThrough(
  proxy: ProxyAddress,
  toProxy: OpenConnection,
  { tls, timeoutMs }: { readonly tls: TlsSource; readonly timeoutMs: number },
): OpenConnection {
  const secure = securing(tls, timeoutMs)
  const { protocol, host, hostname, port } = new URL(proxy.origin)
  const itself = { protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port }
  return async (options) => {
    const hop = await toProxy(itself)
    const joined = await joinedBy(proxy, hop.socket, { authority: authorityOf(options), timeoutMs })
    return { socket: await secure(joined, options), tcp: hop.tcp }
  }
}

export function connectorOf(open: OpenConnection): buildConnector.connector {
  return (options, callback) =>
    callbackify(open)(options, (error, opened) =>
      error === null ? callback(null, skipInterim(opened.socket)) : callback(error, null),
    )
}

async function joinedBy(
  proxy: ProxyAddress,
  socket: Socket,
  { authority, timeoutMs }: { readonly authority: string; readonly timeoutMs: number },
): Promise<Socket> {
  let tries = 0
  const client = new Client(proxy.origin, {
    allowH2: false,
    connect(_options, callback) {
      tries += 1
      // Not called immediately, because undici would then forget its request.
      queueMicrotask(() =>
        tries === 1 ? callback(null, skipInterim(socket)) : callback(new Error('one connection, once'), null),
      )
    },
  })
  const login = proxy.authorization?.reveal()
  const headers = { host: authority, ...(login === undefined ? {} : { 'proxy-authorization': login }) }
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const asking = client.connect({ path: authority, headers, signal })
    const { statusCode: status } = await Promise.race([asking, expiring(signal)])
    if (status >= 200 && status < 300) return socket
    throw new ProxyError({ type: 'refused', proxy, status })
  } catch (error) {
    socket.destroy()
    if (error instanceof ProxyError) throw error
    throw new ProxyError(
      signal.aborted
        ? { type: 'silent', proxy, afterMs: timeoutMs }
        : { type: 'cut', proxy, code: socketCode(error) },
    )
  } finally {
    client.destroy().catch(() => undefined)
  }
}

function securing(tls: TlsSource, timeoutMs: number) {
  let made: { readonly of: unknown; readonly connect: buildConnector.connector } | undefined
  return async (under: Socket, options: buildConnector.Options): Promise<Socket> => {
    try {
      const secureContext = await tls.current()
      if (made === undefined || made.of !== secureContext) {
        const own = secureContext === undefined ? {} : { secureContext }
        made = { of: secureContext, connect: buildConnector({ timeout: timeoutMs, allowH2: false, ...own }) }
      }
      const { promise, resolve, reject } = Promise.withResolvers<Socket>()
      made.connect({ ...options, httpSocket: under }, (...[error, socket]) =>
        error === null ? resolve(socket) : reject(error),
      )
      return await Promise.race([promise, closing(under, timeoutMs)])
    } catch (error) {
      under.destroy()
      throw error
    }
  }
}

/** Rejects if the connection closes before TLS is ready: undici does not report this. */
function closing(under: Socket, timeoutMs: number): Promise<never> {
  const closed = new Promise<never>((_, reject) => {
    function fail(): void {
      reject(Object.assign(new Error('closed before TLS was ready'), { code: 'ECONNRESET' }))
    }
    if (under.destroyed || under.readableEnded) fail()
    else under.once('close', fail)
  })
  return Promise.race([closed, expiring(AbortSignal.timeout(timeoutMs + SLACK_MS))])
}

/** Added to undici's limit, because undici's own error says more and must come first. */
const SLACK_MS = 1_000

async function expiring(signal: AbortSignal): Promise<never> {
  await aborted(signal)
  throw new errors.ConnectTimeoutError()
}

function authorityOf(options: buildConnector.Options): string {
  return options.port === '' ? `${options.host}:${defaultPort(options)}` : (options.host ?? '')
}

function defaultPort({ protocol }: buildConnector.Options): string {
  return protocol === 'https:' ? '443' : '80'
}

/** Interim replies (RFC 9110, 15.2), except 101, which ends HTTP. */
const INTERIM = /HTTP\/1\.[01] 1(?!01)\d\d\b[^\n]*\n(?:[^\r\n][^\n]*\n)*\r?\n/y
const BEGIN = 'HTTP/1.1 1'
const MAX_INTERIM = 16 * 1024

/** Drops interim replies, because undici fails after some of them, such as an unexpected `100 Continue`. */
function skipInterim(socket: Socket): Socket {
  const read = socket.read.bind(socket)
  const write = socket.write.bind(socket)
  /** Received bytes that might be an interim reply. Undefined: the final reply has begun. */
  let held: Buffer | undefined = Buffer.alloc(0)
  socket.write = (...sent: unknown[]) => {
    held ??= Buffer.alloc(0)
    return (write as (...sent: unknown[]) => boolean)(...sent) // one of its overloads
  }
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size) as Buffer | null // no encoding is set
      if (chunk === null || held === undefined) return chunk
      held = withoutInterim(Buffer.concat([held, chunk]))
      if (mayBeInterim(held)) continue
      const begun = held
      held = undefined
      return begun
    }
  }
  return socket
}

function withoutInterim(begun: Buffer): Buffer {
  const text = begun.toString('latin1')
  INTERIM.lastIndex = 0
  let from = 0
  while (INTERIM.test(text)) from = INTERIM.lastIndex
  return begun.subarray(from)
}

function mayBeInterim(begun: Buffer): boolean {
  const begin = begun.toString('latin1', 0, BEGIN.length + 2).replace('HTTP/1.0', 'HTTP/1.1')
  return (
    begun.length < MAX_INTERIM && BEGIN.startsWith(begin.slice(0, BEGIN.length)) && !begin.endsWith('101')
  )
}
