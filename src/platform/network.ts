import { Agent, type buildConnector, type Dispatcher } from 'undici'
import { createSecretMask, type SecretMask } from '../lib/mask/secret-mask.ts'
import { type ProxyAddress, proxyFor, type ProxyFault, type ProxySettings } from '../lib/proxy.ts'
import type { Seen, WireRequest } from './http-exchange.ts'
import {
  connectorOf,
  openDirectly,
  openThrough,
  openToProxy,
  type Opened,
  type OpenConnection,
} from './open-connection.ts'
import { openTls, type TlsFiles } from './tls-files.ts'

/** How others are reached. */
export interface NetworkSettings {
  readonly proxies: ProxySettings
  readonly tls: TlsFiles
}

/** A proxy on a way. `joins`: it sees nothing but TLS. `forwards`: it reads what is sent, and may answer by itself. */
export interface ProxyOnWay {
  readonly address: ProxyAddress
  readonly does: 'joins' | 'forwards'
}

/**
 * A proxy that forwards wants to know who we are (407), and passed nothing on: it says so itself (RFC 9110, 11.7.1), and
 * nobody else may.
 */
export function faultOfReply(
  { status, headers }: Pick<Extract<Seen, { type: 'reply' }>, 'status' | 'headers'>,
  proxy: ProxyOnWay | undefined,
): ProxyFault | undefined {
  if (proxy?.does !== 'forwards' || status !== 407 || headers['proxy-authenticate'] === undefined)
    return undefined
  return { type: 'refused', proxy: proxy.address, status }
}

/** How one origin is reached. */
export interface Way {
  readonly proxy: ProxyOnWay | undefined
  /** Keeps connections alive, of all that are reached so. */
  readonly dispatcher: Dispatcher
  /** Opens a connection for one request alone. @param timeoutMs of each step */
  open(options: buildConnector.Options, timeoutMs: number): Promise<Opened>
  /** The request as it is sent; its origin is where the connection goes to. */
  readonly routed: (request: WireRequest) => WireRequest
  /** Masks what the proxy was sent to let us in. */
  readonly mask: Pick<SecretMask, 'mask'>
}

/** The ways out. Disposing it waits for the requests that run. */
export interface Network extends AsyncDisposable {
  wayTo(origin: string): Way
  /** Ends the requests that run. */
  destroy(): Promise<void>
}

/** @param timeoutMs for each step of a connection that is kept alive: TCP, a proxy's answer, TLS */
export function openNetwork({ proxies, tls }: NetworkSettings, timeoutMs: number): Network {
  const source = openTls(tls)
  // A proxy is shown no certificate of ours: that is for the platform.
  const proxySource = openTls({ ...tls, certFile: undefined, keyFile: undefined })
  const ways = new Map<string, Way>()

  function opener(proxy: ProxyOnWay | undefined, ms: number): OpenConnection {
    const limits = { timeoutMs: ms }
    if (proxy === undefined) return openDirectly(source, limits)
    const toProxy = openToProxy(proxy.address, openDirectly(proxySource, limits))
    return proxy.does === 'forwards' ? toProxy : openThrough(proxy.address, toProxy, source, limits)
  }

  function wayBy(proxy: ProxyOnWay | undefined): Way {
    const agent = new Agent({ allowH2: false, connect: connectorOf(opener(proxy, timeoutMs)) })
    return {
      proxy,
      dispatcher: agent,
      open: (options, ms) => opener(proxy, ms)(options),
      routed: (request) => (proxy?.does === 'forwards' ? forwarded(request, proxy.address) : request),
      mask: createSecretMask(proxy?.address.secrets.map((secret) => secret.reveal())),
    }
  }

  return {
    wayTo(origin) {
      const address = proxyFor(origin, proxies)
      const does = origin.startsWith('https:') ? 'joins' : 'forwards'
      const id = address === undefined ? 'direct' : does
      const way = ways.get(id) ?? wayBy(address === undefined ? undefined : { address, does })
      ways.set(id, way)
      return way
    },
    async destroy() {
      await Promise.all([...ways.values()].map(({ dispatcher }) => dispatcher.destroy()))
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...ways.values()].map(({ dispatcher }) => dispatcher.close()))
    },
  }
}

/** The request as a proxy takes it that passes it on: its whole URL in place of the path (RFC 9112, 3.2.2). */
function forwarded(request: WireRequest, { origin, authorization }: ProxyAddress): WireRequest {
  const login = authorization === undefined ? {} : { 'Proxy-Authorization': authorization.reveal() }
  return {
    ...request,
    origin,
    path: `${request.origin}${request.path}`,
    headers: { ...request.headers, Host: new URL(request.origin).host, ...login },
  }
}
