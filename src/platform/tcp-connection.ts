import { type LookupAddress, promises as dns } from 'node:dns'
import { connect, type Socket } from 'node:net'

/** Time between the starts of two attempts (RFC 8305, section 8). */
const STEP_MS = 250

export class NoConnectionError extends Error {
  readonly code: string
  readonly addresses: readonly string[]

  constructor(code: string, addresses: readonly string[]) {
    super(`no address could be connected: ${code}`)
    this.name = 'NoConnectionError'
    this.code = code
    this.addresses = addresses
  }
}

type Lookup = (host: string) => Promise<readonly LookupAddress[]>

/** Shares a running lookup of a host, because a lookup holds a thread until the resolver gives up. */
export function sharedLookup(lookup: Lookup): Lookup {
  const running = new Map<string, Promise<readonly LookupAddress[]>>()
  return (host) =>
    running.getOrInsertComputed(host, async () => lookup(host).finally(() => running.delete(host)))
}

const MACHINE = {
  lookup: sharedLookup((host) => dns.lookup(host, { all: true })),
  dial: (host: string, port: number): Socket =>
    connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }),
  after: (delayMs: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

/**
 * Keeps attempts open until the time limit, because a slow address can be the only one that works.
 * @param timeoutMs includes DNS
 * @throws {NoConnectionError} or the resolver's error
 */
export function openTcp(
  { host, port }: { readonly host: string; readonly port: number },
  timeoutMs: number,
  { lookup, dial, after }: typeof MACHINE = MACHINE,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const open = new Set<Socket>()
    const codes: string[] = []
    let addresses: readonly string[] = []
    let stepMs = 0
    let isOver = false
    let cancelStep: (() => void) | undefined
    const cancelLimit = after(timeoutMs, () => fail(addresses.length === 0 ? UNRESOLVED : LATE))
    lookup(host)
      .then(start)
      .catch((error: unknown) => fail(socketCode(error)))

    function start(found: readonly LookupAddress[]): void {
      addresses = [...new Set(found.map(({ address }) => address))]
      stepMs = Math.min(STEP_MS, timeoutMs / 2 / addresses.length)
      if (!isOver) next()
    }

    function next(): void {
      cancelStep?.()
      const address = addresses[open.size + codes.length]
      if (address !== undefined) attempt(address)
      // Prefers other codes than "unreachable", which often means only that this machine has no IPv6.
      else if (open.size === 0) fail(codes.find((code) => !/UNREACH|NOTAVAIL/.test(code)) ?? codes[0])
    }

    function attempt(address: string): void {
      const socket = dial(address, port)
      open.add(socket)
      socket.once('connect', () => {
        open.delete(socket)
        end()
        resolve(socket)
      })
      // Without a listener, an early error would crash the process.
      socket.on('error', (error) => {
        if (isOver) return
        open.delete(socket)
        codes.push(socketCode(error))
        next()
      })
      cancelStep = after(stepMs, next)
    }

    function fail(code = 'ENOTFOUND'): void {
      end()
      reject(new NoConnectionError(code, addresses))
    }

    function end(): void {
      isOver = true
      cancelLimit()
      cancelStep?.()
      for (const socket of open) socket.destroy()
    }
  })
}

const LATE = 'UND_ERR_CONNECT_TIMEOUT'
const UNRESOLVED = 'ETIMEOUT'

export function socketCode(error: unknown): string {
  if (!(error instanceof Error)) return 'no code'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
