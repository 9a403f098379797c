import type { Secret } from './secret.ts'

/** A proxy on the way to others. */
export interface ProxyAddress {
  /** Scheme, host and port: never its user and password. */
  readonly origin: string
  /** Value of the `Proxy-Authorization` header; `undefined`: it wants none. */
  readonly authorization: Secret | undefined
  /** Every text that must not come back in a message. */
  readonly secrets: readonly Secret[]
  /** The variable that names it, such as `HTTPS_PROXY`. */
  readonly from: string
}

/** Which proxy is used for what. */
export interface ProxySettings {
  /** For `https:`. */
  readonly https: ProxyAddress | undefined
  /** For `http:`. */
  readonly http: ProxyAddress | undefined
  /** Hosts that are reached without one: the entries of `NO_PROXY`. */
  readonly noProxy: readonly string[]
}

export const NO_PROXIES: ProxySettings = { https: undefined, http: undefined, noProxy: [] }

/** Why there is no way through a proxy. Nothing was sent to whoever is behind it. */
export type ProxyFault = { readonly proxy: ProxyAddress } & (
  | { readonly type: 'unreachable' | 'cut'; /** Of the error. */ readonly code: string }
  | { readonly type: 'refused'; /** HTTP status. */ readonly status: number }
  | { readonly type: 'silent'; readonly afterMs: number }
)

/** @returns the proxy to use; `undefined`: none */
export function proxyFor(origin: string, { https, http, noProxy }: ProxySettings): ProxyAddress | undefined {
  const url = new URL(origin)
  const proxy = url.protocol === 'https:' ? https : http
  return proxy === undefined || isDirect(url, noProxy) ? undefined : proxy
}

/** Whether an address is reached without a proxy, whichever there is: all of this machine is. */
export function isDirect(url: URL, noProxy: ProxySettings['noProxy']): boolean {
  const host = plainHost(url.hostname)
  const port = url.port === '' ? DEFAULT_PORT[url.protocol] : url.port
  return isLoopbackHost(host) || noProxy.some((entry) => covers(entry, host, port))
}

const DEFAULT_PORT: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

/** Without brackets, and without the dot that says that a name is whole. */
function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(.)\.$/, '$1')
}

/** As `URL` writes a host: lower case, IPv4 in four parts. IPv6 with brackets or without. */
export function isLoopbackHost(host: string): boolean {
  const plain = plainHost(host)
  return (
    plain === 'localhost' || plain.endsWith('.localhost') || plain === '::1' || /^127(\.\d+){3}$/.test(plain)
  )
}

/**
 * Whether an entry of `NO_PROXY` is about a host: `*`; a name, which stands for all names below it as well, also with a dot
 * in front; `*.name` for those below it alone; an address; a range of addresses. Each may have a port, except a range.
 */
function covers(entry: string, host: string, port: string | undefined): boolean {
  const [name, onlyPort] = partsOf(entry.trim().toLowerCase())
  if (onlyPort !== undefined && onlyPort !== port) return false
  if (name === '*') return true
  if (name.includes('/')) return isInRange(host, name)
  if (name.startsWith('*.')) return host.endsWith(name.slice(1))
  const whole = plainHost(name.replace(/^\./, ''))
  const address = bitsOf(whole)
  if (address !== undefined) return address === bitsOf(host)
  return whole !== '' && (host === whole || host.endsWith(`.${whole}`))
}

/** A name or an address, and its port. Colons without brackets are those of an IPv6 address. */
function partsOf(entry: string): readonly [string, string | undefined] {
  const [, bracketed, portBehind] = /^\[(.+)\](?::(\d+))?$/.exec(entry) ?? []
  if (bracketed !== undefined) return [bracketed, portBehind]
  const [, name, port] = /^([^:]+):(\d+)$/.exec(entry) ?? []
  return name === undefined ? [entry, undefined] : [name, port]
}

function isInRange(host: string, range: string): boolean {
  const [network = '', length = ''] = range.split('/')
  const [of, own] = [bitsOf(plainHost(network)), bitsOf(host)]
  if (of === undefined || of.length !== own?.length) return false
  return (
    /^\d{1,3}$/.test(length) && Number(length) <= of.length && own.startsWith(of.slice(0, Number(length)))
  )
}

/** Of an IPv4 or IPv6 address, however that is written; undefined: it is none. */
function bitsOf(address: string): string | undefined {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) return bits(address.split('.'), 10, 8)
  const [head = '', tail] = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1).split('::') ?? []
  if (head === '' && tail === undefined) return undefined
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')]
  const between = Array.from({ length: 8 - first.length - last.length }, () => '0')
  return bits([...first, ...between, ...last], 16, 16)
}

function groupsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(':')
}

function bits(parts: readonly string[], radix: number, size: number): string {
  return parts.map((part) => Number.parseInt(part, radix).toString(2).padStart(size, '0')).join('')
}
