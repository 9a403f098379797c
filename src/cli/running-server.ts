import { createHmac } from 'node:crypto'
import { hostname } from 'node:os'
import type { Settings } from '../config/settings.ts'
import type { Ledger } from '../contract/ledger.ts'
import { isLoopbackHost, NO_PROXIES } from '../lib/proxy.ts'
import { networkToOthers } from './compose-network.ts'
import { openLedgerToRead } from './compose.ts'
import type { Io } from './io.ts'
import { adminTokenOf, type CallContext, callServer } from './server-client.ts'

export interface Owner extends CallContext {
  readonly token: string
}

/** @returns undefined: no daemon owns the ledger, or this host cannot reach the daemon */
export async function findOwner(io: Io, settings: Settings, command: string): Promise<Owner | undefined> {
  const { server } = settings
  const network = networkToOthers(settings)
  if (server !== undefined)
    return { command, network, server, token: await adminTokenOf(io, settings, command) }
  await using ledger = await openLedgerToRead(settings, io.clock)
  const url = await daemonUrl(ledger)
  if (url === undefined) return undefined
  // Uses no proxy, because a proxy would see the token.
  const asked = { command, network: { ...network, proxies: NO_PROXIES } }
  // Finds a hung daemon early, because the command itself has a long timeout.
  await callServer(io, { ...asked, server: url, path: 'healthz', timeoutMs: PROBE_MS })
  return { ...asked, server: url, token: ownerTokenOf(ledger) }
}

const PROBE_MS = 10_000

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
