import { BlockList, isIP } from 'node:net'
import type { Secret } from './secret.ts'

export interface ProxyAddress {
  /** Scheme, host and port. Never the user and password. */
  readonly origin: string
  /** `Proxy-Authorization` header. Undefined if the proxy needs none. */
  readonly authorization: Secret | undefined
  readonly secrets: readonly Secret[]
  readonly from: string
}

export interface ProxySettings {
  readonly https: ProxyAddress | undefined
  readonly http: ProxyAddress | undefined
  readonly noProxy: readonly string[]
}

export const NO_PROXIES: ProxySettings = { https: undefined, http: undefined, noProxy: [] }

/** The request failed at the proxy, so the host behind it received no data. */
export type ProxyFault = { readonly proxy: ProxyAddress } & (
  | { readonly type: 'unreachable'; readonly code: string; readonly addresses: readonly string[] }
  | { readonly type: 'cut'; readonly code: string }
  | { readonly type: 'refused'; readonly status: number }
  | { readonly type: 'silent'; readonly afterMs: number }
)

export function proxyFor(origin: string, { https, http, noProxy }: ProxySettings): ProxyAddress | undefined {
  const url = new URL(origin)
  const proxy = url.protocol === 'https:' ? https : http
  return proxy === undefined || isDirect(url, noProxy) ? undefined : proxy
}

export function isDirect(url: URL, noProxy: ProxySettings['noProxy']): boolean {
  const host = plainHost(url.hostname)
  const port = url.port === '' ? DEFAULT_PORT[url.protocol] : url.port
  return isLoopbackHost(host) || noProxy.some((entry) => covers(entry, host, port))
}

const DEFAULT_PORT: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(.)\.$/, '$1')
}

/** @param host as `URL` writes it: lower case, IPv4 in four parts, IPv6 with or without brackets */
export function isLoopbackHost(host: string): boolean {
  return /^(?:(?:.*\.)?localhost|::1|127(?:\.\d+){3}|::ffff:7f[0-9a-f]{2}:[0-9a-f]+)$/.test(plainHost(host))
}

/**
 * Whether an entry of `NO_PROXY` matches the host. Any entry except a range can have a port.
 * `*` matches all hosts. `name` and `.name` match the name and all names below it, `*.name` only names below it.
 */
function covers(entry: string, host: string, port: string | undefined): boolean {
  const [name, onlyPort] = partsOf(entry.trim().toLowerCase())
  if (onlyPort !== undefined && onlyPort !== port) return false
  if (name === '*') return true
  if (name.startsWith('*.')) return host.endsWith(name.slice(1))
  const [network = '', length] = name.split('/')
  const whole = plainHost(network.replace(/^\./, ''))
  if (isIP(whole) !== 0) return isInRange(host, whole, length)
  return length === undefined && whole !== '' && (host === whole || host.endsWith(`.${whole}`))
}

/** Splits name and port. Several colons without brackets are an IPv6 address. */
function partsOf(entry: string): readonly [string, string | undefined] {
  const [, bracketed, name, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? []
  return [bracketed ?? name ?? entry, port]
}

function isInRange(host: string, network: string, length: string | undefined): boolean {
  const family = isIP(network)
  const longest = family === 4 ? 32 : 128
  const prefix = length === undefined ? longest : /^\d{1,3}$/.test(length) ? Number(length) : Infinity
  if (isIP(host) < family || prefix > longest) return false
  const range = new BlockList()
  range.addSubnet(network, prefix, `ipv${family === 4 ? 4 : 6}`)
  // Also matches an IPv4 address in IPv6 form (`::ffff:10.0.0.1`).
  return range.check(host, `ipv${isIP(host) === 4 ? 4 : 6}`)
}
