import { otherLedger, type Settings } from '../config/settings.ts'
import type { CommandContext } from '../server/command-line.ts'

/** What a command that is said here has to name. */
export function commandContext(
  settings: Pick<Settings, 'sandbox' | 'ledger'> & Partial<Pick<Settings, 'server'>>,
): CommandContext {
  return { sandbox: settings.sandbox, ledger: otherLedger(settings), server: settings.server }
}
