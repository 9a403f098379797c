import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { OpenedLedger } from '../../src/contract/ledger.ts'
import { NotLeading } from '../../src/contract/leadership.ts'

const never = new AbortController().signal

/** A ledger that processes open one after the other. */
export interface Home extends AsyncDisposable {
  open(): Promise<OpenedLedger>
}

/** Who acts, wherever the ledger is (`Leadership` in contract/leadership.ts). */
export function describeLeadership(name: string, start: () => Promise<Home>): void {
  let home: Home

  describe(`who acts, by a ledger at ${name}`, () => {
    beforeEach(async () => {
      home = await start()
    })

    afterEach(async () => {
      await home[Symbol.asyncDispose]()
    })

    test('nobody at first; then the one that asks, in the first epoch', async () => {
      const { ledger, leadership } = await home.open()
      await using _ = ledger
      expect(leadership.leader()).toBeUndefined()
      const term = await leadership.acquire(never, 'wait')
      expect(term.epoch).toBe(1)
      expect(leadership.leader()).toMatchObject({ epoch: 1 })
      await term.confirm()
      expect(term.over.aborted).toBe(false)
      await leadership[Symbol.asyncDispose]()
      expect(term.over.aborted).toBe(true)
    })

    test('the epoch grows with each process, also after one that ended in good order', async () => {
      for (const epoch of [1, 2, 3]) {
        const { ledger, leadership } = await home.open()
        const term = await leadership.acquire(never, 'wait')
        expect(term.epoch).toBe(epoch)
        await term.release()
        await ledger[Symbol.asyncDispose]()
      }
    })

    test('who asks twice has it once', async () => {
      const { ledger, leadership } = await home.open()
      await using _ = ledger
      expect(await leadership.acquire(never, 'wait')).toBe(await leadership.acquire(never, 'wait'))
    })

    test('what was released is confirmed no more', async () => {
      const { ledger, leadership } = await home.open()
      await using _ = ledger
      const term = await leadership.acquire(never, 'wait')
      await term.release()
      expect(term.over.aborted).toBe(true)
      await expect(term.confirm()).rejects.toThrow(NotLeading)
      expect(leadership.leader()).toBeUndefined()
    })

    test('who gives up asking does not get it', async () => {
      const { ledger, leadership } = await home.open()
      await using _ = ledger
      await expect(leadership.acquire(AbortSignal.abort(new Error('enough')), 'wait')).rejects.toThrow(
        'enough',
      )
      expect(leadership.leader()).toBeUndefined()
    })
  })
}
