import { isIPv4 } from 'node:net'
import type { Settings } from '../config/settings.ts'
import { systemClock } from '../daemon/system-clock.ts'
import { type LedgerToRead, openLedgerToRead } from './compose.ts'
import { CommandError } from './io.ts'
import { readLedgerStatus } from './resource-view.ts'

/** The address of the daemon: `--server`, or that of the one that works with the ledger. @throws {CommandError | LedgerError} */
export async function runningServer(
  settings: LedgerToRead & Pick<Settings, 'server'>,
  command: string,
): Promise<string> {
  if (settings.server !== undefined) return settings.server
  await using ledger = await openLedgerToRead(settings)
  const { daemon } = await readLedgerStatus(ledger, settings, systemClock.now())
  const url = daemon.last?.url
  if (daemon.state === 'running' && url !== undefined) return reachable(url, command)
  if (daemon.state === 'silent')
    throw new CommandError(
      `${command}: the daemon that works with ${settings.ledger} does not respond. Look at its log, and restart it.`,
    )
  const hint = 'Start one with "pipewright run", or name one elsewhere with --server URL.'
  throw new CommandError(`${command}: no daemon works with ${settings.ledger}. ${hint}`)
}

/** Who listens everywhere is asked on this machine; the token goes to no other without a person's word. */
function reachable(listen: string, command: string): string {
  const url = new URL(listen)
  if (!isOfOneHost(url)) {
    throw new CommandError(
      `${command}: the daemon listens at ${listen}, which is not the loopback address. Say where to ask it with --server URL.`,
    )
  }
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  return url.href
}

/** Whether an address leads to another process on each host: the loopback one, and that of who listens everywhere. */
export function isOfOneHost({ hostname }: URL): boolean {
  return (
    ['localhost', '[::1]', '[::]', '0.0.0.0'].includes(hostname) ||
    (isIPv4(hostname) && hostname.startsWith('127.'))
  )
}
