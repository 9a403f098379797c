import type { Socket } from 'node:net'
import { buildConnector, Client, errors } from 'undici'
import type { ProxyAddress, ProxyFault } from '../lib/proxy.ts'
import type { TlsSource } from './tls-files.ts'

/** A connection that is ready for a request. */
export interface Opened {
  readonly socket: Socket
  /** The TCP connection under it, to the proxy if there is one: what can be reset. */
  readonly tcp: Socket
}

/** There is no way through the proxy. */
export class ProxyError extends Error {
  readonly fault: ProxyFault

  constructor(fault: ProxyFault) {
    super(`no way through the proxy: ${fault.type}`)
    this.name = 'ProxyError'
    this.fault = fault
  }
}

/** Opens connections to one or more servers, each by the same way. */
export type OpenConnection = (options: buildConnector.Options) => Promise<Opened>

/** @param timeoutMs for TCP, for the answer of a proxy, and for TLS */
export interface OpeningLimits {
  readonly timeoutMs: number
}

/** To the server itself. */
export function openDirectly(tls: TlsSource, { timeoutMs }: OpeningLimits): OpenConnection {
  const toTcp = connecting(buildConnector({ timeout: timeoutMs, allowH2: false }))
  const secure = securing(tls, timeoutMs)
  return async (options) => {
    const tcp = await toTcp({ ...options, protocol: 'http:', port: options.port || defaultPort(options) })
    const socket = options.protocol === 'https:' ? await secure(tcp, options) : tcp
    return { socket, tcp }
  }
}

/** To a proxy that passes requests on by itself: what cannot be reached then is the proxy. */
export function openToProxy(proxy: ProxyAddress, toItself: OpenConnection): OpenConnection {
  return async (options) => {
    try {
      return await toItself(options)
    } catch (error) {
      throw new ProxyError({ type: 'unreachable', proxy, code: codeOf(error) })
    }
  }
}

/** Through a proxy that joins us with the server (`CONNECT`): it sees nothing but TLS. */
export function openThrough(
  proxy: ProxyAddress,
  toProxy: OpenConnection,
  tls: TlsSource,
  { timeoutMs }: OpeningLimits,
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

/** For undici. */
export function connectorOf(open: OpenConnection): buildConnector.connector {
  return (options, callback) => {
    void passOn()

    async function passOn(): Promise<void> {
      let opened: Opened
      try {
        opened = await open(options)
      } catch (error) {
        callback(errorOf(error), null)
        return
      }
      callback(null, opened.socket)
    }
  }
}

/** `CONNECT` on a connection to the proxy, once. */
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
      // Later, like every connection: a client that is called back at once forgets what it was asked for.
      queueMicrotask(() =>
        tries === 1 ? callback(null, socket) : callback(new Error('one connection, once'), null),
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
        : { type: 'cut', proxy, code: codeOf(error) },
    )
  } finally {
    client.destroy().catch(() => undefined)
  }
}

type Connect = (options: buildConnector.Options) => Promise<Socket>

function connecting(connect: buildConnector.connector): Connect {
  return (options) =>
    new Promise((resolve, reject) => {
      connect(options, (...[error, socket]) => {
        if (error === null) resolve(socket)
        else reject(error)
      })
    })
}

/** TLS over a connection, with the files as they are then. TLS that is made of other files resumes nothing of before. */
function securing(tls: TlsSource, timeoutMs: number) {
  let made: { readonly of: unknown; readonly connect: Connect } | undefined
  return async (under: Socket, options: buildConnector.Options): Promise<Socket> => {
    try {
      const secureContext = await tls.current()
      if (made === undefined || made.of !== secureContext) {
        const own = secureContext === undefined ? {} : { secureContext }
        const connect = buildConnector({ timeout: timeoutMs, allowH2: false, ...own })
        made = { of: secureContext, connect: connecting(connect) }
      }
      return await Promise.race([made.connect({ ...options, httpSocket: under }), closing(under, timeoutMs)])
    } catch (error) {
      under.destroy()
      throw error
    }
  }
}

/** Never resolves. Of a connection that is closed before TLS is ready, nobody else says anything. */
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

/** undici has limits of its own, which say more; it has none for each way in which a connection can be lost. */
const SLACK_MS = 1_000

function expiring(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new errors.ConnectTimeoutError()), { once: true })
  })
}

function authorityOf(options: buildConnector.Options): string {
  return options.port === '' ? `${options.host}:${defaultPort(options)}` : (options.host ?? '')
}

function defaultPort({ protocol }: buildConnector.Options): string {
  return protocol === 'https:' ? '443' : '80'
}

export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no code'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('no error was thrown', { cause: thrown })
}
