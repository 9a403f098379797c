import type { Settings } from '../config/settings.ts'
import type { Clock } from '../lib/clock.ts'
import { isLoopbackHost } from '../lib/proxy.ts'
import { type LedgerToRead, openLedgerToRead } from './compose.ts'
import { CommandError } from './io.ts'
import { readLedgerStatus } from './reading.ts'

/** `--server`, or the address of the ledger's daemon. @throws {CommandError | LedgerError} */
export async function runningServer(
  settings: LedgerToRead & Pick<Settings, 'server'>,
  { command, clock }: { readonly command: string; readonly clock: Clock },
): Promise<string> {
  if (settings.server !== undefined) return settings.server
  await using ledger = await openLedgerToRead(settings, clock)
  const { daemon } = await readLedgerStatus(ledger, settings, clock)
  const url = daemon.last?.url
  if (daemon.state === 'running' && url !== undefined) return reachable(url, command)
  if (daemon.state === 'silent')
    throw new CommandError(
      `${command}: the daemon that works with ${settings.ledger} does not respond. Look at its log, and restart it.`,
    )
  const hint = 'Start a daemon with "pipewright run", or name a remote daemon with --server URL.'
  throw new CommandError(`${command}: no daemon works with ${settings.ledger}. ${hint}`)
}

/** A wildcard address becomes this machine's. Only a named machine gets the token. */
function reachable(listen: string, command: string): string {
  const url = new URL(listen)
  if (!isOfOneHost(url)) {
    throw new CommandError(
      `${command}: the daemon listens at ${listen}, which is not the loopback address. Say where to ask it with --server URL.`,
    )
  }
  if (EVERY_ADDRESS.includes(url.hostname)) url.hostname = '127.0.0.1'
  return url.href
}

/** Loopback or wildcard: another process on each host. */
export function isOfOneHost({ hostname }: URL): boolean {
  return isLoopbackHost(hostname) || EVERY_ADDRESS.includes(hostname)
}

const EVERY_ADDRESS = ['0.0.0.0', '[::]']
