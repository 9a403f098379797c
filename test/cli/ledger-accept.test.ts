import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openLedger } from '../../src/ledger/open.ts'
import { runHere } from '../support/command.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createWorkspace } from '../support/workspace.ts'

const OPTIONS = { mode: 'owner', init: 'auto', clock: createFakeClock(), emit: () => undefined } as const

test.each(['one that is there', 'one that is not there'])(
  'accept refuses a ledger in a file, %s: its rollback would not be noticed',
  async (which) => {
    using workspace = createWorkspace()
    const file = workspace.path('ledger.db')
    const isThere = which === 'one that is there'
    if (isThere) await (await openLedger(`sqlite:${file}`, OPTIONS)).ledger[Symbol.asyncDispose]()
    const { code, stdout, stderr } = await runHere(['ledger', 'accept', '--ledger', `sqlite:${file}`])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('only in a cluster')
    expect(existsSync(file)).toBe(isThere)
  },
)
