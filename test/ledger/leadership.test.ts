import { openMemoryLedger } from '../../src/ledger/open-sqlite-ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { createWorkspace } from '../support/workspace.ts'
import { describeLeadership } from './leadership-contract.ts'
import { CLOCK, ignore } from './samples.ts'

describeLeadership('sqlite:', async () => {
  const workspace = createWorkspace()
  const url = `sqlite:${workspace.path('ledger.db')}`
  return {
    open: () => openLedger(url, { init: 'auto', mode: 'owner', clock: CLOCK, emit: ignore }),
    async [Symbol.asyncDispose]() {
      workspace[Symbol.dispose]()
    },
  }
})

describeLeadership('memory:', async () => {
  const opened = openMemoryLedger({ emit: ignore })
  return {
    // Nobody closes what all of them share.
    open: async () => ({ ...opened, ledger: { ...opened.ledger, async [Symbol.asyncDispose]() {} } }),
    async [Symbol.asyncDispose]() {},
  }
})
