import { Agent, type buildConnector, type Dispatcher } from 'undici'
import { createSecretMask, type SecretMask } from '../lib/mask/secret-mask.ts'
import { type ProxyAddress, proxyFor, type ProxyFault, type ProxySettings } from '../lib/proxy.ts'
import type { Exchanged, WireRequest } from './http-exchange.ts'
import {
  connectorOf,
  openDirectly,
  openThrough,
  openToProxy,
  type Opened,
  type OpenConnection,
} from './open-connection.ts'
import { openTls, type TlsFiles } from './tls-files.ts'

export const MAX_HEADER_BYTES = 64 * 1024

export interface NetworkSettings {
  readonly proxies: ProxySettings
  readonly tls: TlsFiles
}

/** `joins`: tunnels TLS. `forwards`: reads requests and can reply itself. */
interface ProxyOnWay {
  readonly address: ProxyAddress
  readonly does: 'joins' | 'forwards'
}

/** A 407 comes from the proxy itself, which did not forward the request (RFC 9110, 11.7.1). */
export function faultOfReply(
  { status, headers }: Pick<Extract<Exchanged, { type: 'reply' }>, 'status' | 'headers'>,
  proxy: ProxyOnWay | undefined,
): ProxyFault | undefined {
  if (proxy?.does !== 'forwards' || status !== 407 || headers['proxy-authenticate'] === undefined)
    return undefined
  return { type: 'refused', proxy: proxy.address, status }
}

export interface Route {
  readonly proxy: ProxyOnWay | undefined
  readonly dispatcher: Dispatcher
  open(options: buildConnector.Options, timeoutMs: number): Promise<Opened>
  readonly routed: (request: WireRequest) => WireRequest
  readonly mask: Pick<SecretMask, 'mask'>
}

/** @param timeoutMs limit for each step: TCP, the proxy's answer, TLS */
export function openNetwork({ proxies, tls }: NetworkSettings, timeoutMs: number) {
  const source = openTls(tls)
  // A proxy gets no client certificate: it is for the platform.
  const proxySource = openTls({ ...tls, certFile: undefined, keyFile: undefined })
  const ways = new Map<string, Route>()

  function opener(proxy: ProxyOnWay | undefined, ms: number): OpenConnection {
    if (proxy === undefined) return openDirectly(source, ms)
    const toProxy = openToProxy(proxy.address, openDirectly(proxySource, ms))
    if (proxy.does === 'forwards') return toProxy
    return openThrough(proxy.address, toProxy, { tls: source, timeoutMs: ms })
  }

  function wayBy(proxy: ProxyOnWay | undefined): Route {
    const agent = new Agent({
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: connectorOf(opener(proxy, timeoutMs)),
    })
    return {
      proxy,
      dispatcher: agent,
      open: (options, ms) => opener(proxy, ms)(options),
      routed: (request) => (proxy?.does === 'forwards' ? forwarded(request, proxy.address) : request),
      mask: createSecretMask(proxy?.address.secrets.map((secret) => secret.reveal())),
    }
  }

  return {
    wayTo(origin: string) {
      const address = proxyFor(origin, proxies)
      const does = origin.startsWith('https:') ? 'joins' : 'forwards'
      const id = address === undefined ? 'direct' : does
      return ways.getOrInsertComputed(id, () => wayBy(address && { address, does }))
    },
    async destroy() {
      await Promise.all([...ways.values()].map(({ dispatcher }) => dispatcher.destroy()))
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...ways.values()].map(({ dispatcher }) => dispatcher.close()))
    },
  }
}

/** A proxy needs the URL in place of the path (RFC 9112, 3.2.2). */
function forwarded(request: WireRequest, { origin, authorization }: ProxyAddress): WireRequest {
  const login = authorization === undefined ? {} : { 'Proxy-Authorization': authorization.reveal() }
  return {
    ...request,
    origin,
    path: `${request.origin}${request.path}`,
    headers: { ...request.headers, Host: new URL(request.origin).host, ...login },
  }
}
