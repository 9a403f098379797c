import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { ProxyOptions, ProxyMode, ProxySaid } from './proxy.ts'

/* A proxy, as a process of its own: proxy.ts starts it, says how it is to behave, and hears what it was asked for. */

const options = JSON.parse(process.argv[2] ?? '{}') as ProxyOptions
let mode: ProxyMode = { type: 'pass' }
/** What `late` holds back. */
let held: (() => void)[] = []

function say(said: ProxySaid): void {
  process.send?.(said)
}

function onRequest(message: IncomingMessage, response: ServerResponse): void {
  const { method = '', url = '', headers } = message
  asked(message)
  const refusal = refusalOf(message)
  if (refusal !== undefined) {
    response.writeHead(refusal, headersOf(refusal))
    // As some do that are there to be debugged.
    const login = Buffer.from(headers['proxy-authorization']?.split(' ')[1] ?? '', 'base64').toString()
    response.end(`<html><head><title>the proxy says no to ${login}</title></head><body>…</body></html>`)
    return
  }
  const { host, pathname, search } = new URL(url)
  const { 'proxy-authorization': _login, ...rest } = headers
  const passed = request(
    { host: '127.0.0.1', port: options.hosts[host], method, path: `${pathname}${search}`, headers: rest },
    (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    },
  )
  passed.on('error', () => response.destroy())
  message.pipe(passed)
}

function onConnect(message: IncomingMessage, client: Socket): void {
  watch(client)
  asked(message)
  if (mode.type === 'hang') return
  const refusal = refusalOf(message)
  if (refusal !== undefined) {
    const lines = Object.entries(headersOf(refusal)).map(([name, value]) => `${name}: ${value}\r\n`)
    client.end(`HTTP/1.1 ${refusal} No\r\n${lines.join('')}\r\n<html>no</html>`)
    return
  }
  const server = connect(options.hosts[message.url ?? ''] ?? 0, '127.0.0.1', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (mode.type === 'cut') client.end()
    else join(client, server)
  })
  server.on('error', () => client.destroy())
}

/** Passes on what comes, until one of both ends; `late` passes on what the client says after the server's first words later. */
function join(client: Socket, server: Socket): void {
  let answered = false
  server.on('data', (chunk) => {
    answered = true
    client.write(chunk)
  })
  client.on('data', (chunk) => {
    if (mode.type === 'late' && answered) held.push(() => server.write(chunk))
    else server.write(chunk)
  })
  client.on('close', () => mode.type === 'late' || server.destroy())
  server.on('close', () => client.destroy())
  sockets.add(client)
}

const sockets = new Set<Socket>()

function watch(client: Socket): void {
  let how = 'closed'
  client.on('error', (error: NodeJS.ErrnoException) => {
    how = error.code ?? 'error'
  })
  client.on('close', () => say({ type: 'ended', how }))
}

function asked({ method = '', url = '', headers, socket }: IncomingMessage): void {
  const shown = socket instanceof TLSSocket ? socket.getPeerCertificate().subject?.CN?.toString() : undefined
  say({ type: 'asked', line: `${method} ${url}`, login: headers['proxy-authorization'], shown })
}

/** The status that is answered instead. */
function refusalOf({ headers }: IncomingMessage): number | undefined {
  if (mode.type === 'refuse') return mode.status
  const { login } = options
  const right = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`
  return right === undefined || headers['proxy-authorization'] === right ? undefined : 407
}

function headersOf(status: number): Readonly<Record<string, string>> {
  return status === 407 ? { 'proxy-authenticate': 'Basic realm="proxy"' } : {}
}

const { tls: ownTls, requestCert = false } = options
const tls = ownTls && { ...ownTls, requestCert, rejectUnauthorized: false }
const server = tls === undefined ? createServer(onRequest) : createSecureServer(tls, onRequest)
server.on('connect', onConnect)
server.on('clientError', (_error, socket) => socket.destroy())
process.on('message', (order: ProxyMode) => {
  if (order.type === 'cut all') for (const socket of sockets) socket.resetAndDestroy()
  else if (order.type === 'end all') for (const socket of sockets) socket.end()
  else if (order.type === 'let go') {
    for (const pass of held) pass()
    held = []
  } else mode = order
  say({ type: 'obeyed' })
})
process.on('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo // it listens on TCP
  say({ type: 'listening', port })
})
