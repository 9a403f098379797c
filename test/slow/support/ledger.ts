import { parseKey } from '../../../src/kinds/key.ts'
import { openLedger } from '../../../src/ledger/open.ts'
import type { LedgerRecord } from '../../../src/plan/record.ts'
import { systemClock } from '../../../src/daemon/system-clock.ts'
import type { Workspace } from '../../support/workspace.ts'

/** What the ledger of a workspace says of a key, read from the file. */
export async function recordOf(workspace: Workspace, key: string): Promise<LedgerRecord | undefined> {
  const known = parseKey(key)
  if (known === undefined) throw new Error(`${key} is no key`)
  const opened = await openLedger(`sqlite:${workspace.path('ledger.db')}`, {
    init: 'never',
    mode: 'reader',
    clock: systemClock,
    emit: () => undefined,
  })
  await using ledger = opened.ledger
  return await ledger.get(known)
}
