import type { Ledger } from '../../src/contract/ledger.ts'
import { openMemoryLedger } from '../../src/ledger/open-sqlite-ledger.ts'
import { startApiModel } from '../kubernetes/api-model.ts'
import { openAt } from '../kubernetes/open-at.ts'
import { createWorkspace } from '../support/workspace.ts'
import { describeLedger } from './ledger-contract.ts'
import { openFile } from './samples.ts'

describeLedger('memory:', async (emit) => openMemoryLedger({ emit }).ledger)

describeLedger('sqlite:', async (emit) => {
  const workspace = createWorkspace()
  const file = workspace.path('ledger.db')
  return withEnd(await openFile(file, { emit }), workspace)
})

describeLedger('kubernetes:', async (emit) => {
  await using stack = new AsyncDisposableStack()
  const model = stack.use(await startApiModel())
  const workspace = stack.use(createWorkspace())
  const { ledger } = await openAt(model, workspace, { emit })
  return withEnd(ledger, stack.move())
})

function withEnd(ledger: Ledger, end: Disposable | AsyncDisposable): Ledger {
  let ended: Promise<void> | undefined
  return {
    ...ledger,
    [Symbol.asyncDispose]() {
      ended ??= (async () => {
        await ledger[Symbol.asyncDispose]()
        if (Symbol.asyncDispose in end) await end[Symbol.asyncDispose]()
        else end[Symbol.dispose]()
      })()
      return ended
    },
  }
}
