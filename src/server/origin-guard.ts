import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RequestError } from './replies.ts'

/* The API has no login, so a foreign web page could reach it through a visitor's browser. Checks of `Host` block
   DNS rebinding; those of `Origin` and `Sec-Fetch-Site` block cross-origin requests. */

export interface KnownHosts {
  /** In lower case. `*` allows all names, `.example.com` its subdomains. */
  readonly allowed: readonly string[]
  readonly publicUrl: string | undefined
}

/**
 * Rejects browser requests that come from a foreign page.
 * @param names `of browsers`: only browsers must use a known host name
 */
export function registerWhoAsks(app: FastifyInstance, known: KnownHosts, names: 'all' | 'of browsers'): void {
  const allowed = new Set(known.allowed)
  const publicUrl = known.publicUrl === undefined ? undefined : new URL(known.publicUrl)
  if (publicUrl !== undefined) allowed.add(publicUrl.hostname)

  app.addHook('onRequest', async (request) => {
    assertTarget(request)
    const named = request.raw.headersDistinct['host'] ?? []
    // HTTP/1.0 probes of load balancers omit `Host`. Browsers never do.
    const host = named.length === 0 ? NO_HOST : named.length === 1 ? hostOf(named[0] ?? '') : undefined
    const mayBeAny = names === 'of browsers' && !isOfBrowser(request)
    if (host === undefined || !(host === NO_HOST || mayBeAny || isKnown(host.name, allowed)))
      throw misdirected(host?.name)
    if (isFromElsewhere(request, host.all, publicUrl?.origin)) throw crossSite(request.url)
  })
}

const NO_HOST = { name: '', all: '' } as const

/** Scripts in a browser cannot remove all of these headers. */
function isOfBrowser({ headers }: FastifyRequest): boolean {
  return (
    headers['accept-language'] !== undefined ||
    headers['sec-fetch-site'] !== undefined ||
    headers.origin !== undefined ||
    headers['user-agent']?.startsWith('Mozilla/') === true
  )
}

/** Rejects a URL with a host, which can differ from `Host`. Clients send such URLs only to proxies. */
function assertTarget({ raw }: FastifyRequest): void {
  if (raw.url?.startsWith('/') === true || raw.url === '*') return
  throw new RequestError(
    400,
    'the request names a whole URL, as for a proxy',
    'Send only the path, such as /api/v1/overview.',
  )
}

const HOST = /^(?:\[([0-9a-f:.]+)(?:%[\w.-]+)?\]|([a-z0-9._-]+))(?::\d{0,5})?$/

const LONGEST_NAME = 253

/** `name` has no port, brackets, zone or final dot. */
export function hostOf(header: string): { readonly name: string; readonly all: string } | undefined {
  const all = header.toLowerCase()
  const match = HOST.exec(all)
  const name = match?.[1] ?? match?.[2]?.replace(/\.$/, '')
  if (name === undefined || name === '' || name.length > LONGEST_NAME) return undefined
  return { name, all }
}

/** IP addresses are always allowed, because DNS rebinding needs a name. */
function isKnown(name: string, allowed: ReadonlySet<string>): boolean {
  if (isIP(name) !== 0 || name === 'localhost' || allowed.has('*') || allowed.has(name)) return true
  for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
    if (allowed.has(name.slice(dot))) return true
  }
  return false
}

function misdirected(name: string | undefined): RequestError {
  const error =
    name === undefined ? 'the request has no valid Host header' : `the host "${name}" is not known here`
  return new RequestError(
    421,
    error,
    'Use an IP address or localhost. Or start the daemon with --allowed-hosts NAME (PIPEWRIGHT_ALLOWED_HOSTS), or with --public-url URL.',
  )
}

/** Browsers send `Sec-Fetch-Site` only over secure connections, so `Origin` is checked too. */
function isFromElsewhere(
  { headers, method, raw }: FastifyRequest,
  host: string,
  publicOrigin: string | undefined,
): boolean {
  const site = headers['sec-fetch-site']
  const isOwn = site === undefined || site === 'same-origin' || site === 'none'
  const isLink =
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document' &&
    (method === 'GET' || method === 'HEAD') &&
    raw.url?.split('?')[0] === '/'
  if (!isOwn && !isLink) return true
  const { origin } = headers
  return origin !== undefined && origin !== publicOrigin && !isOriginOf(origin, host)
}

/** Ignores the scheme, because a TLS proxy changes the origin's scheme to `https`. */
function isOriginOf(origin: string, host: string): boolean {
  const url = URL.parse(origin)
  return url !== null && url.origin !== 'null' && url.host === URL.parse(`${url.protocol}//${host}`)?.host
}

function crossSite(url: string): RequestError {
  return new RequestError(
    403,
    `a page of another site requested ${url.split('?')[0]?.slice(0, 100)}`,
    'Open the page of this server. Behind a proxy that changes the host, start the daemon with --public-url URL (PIPEWRIGHT_PUBLIC_URL), the address of the page. In a program, leave out the headers Origin and Sec-Fetch-Site.',
  )
}
