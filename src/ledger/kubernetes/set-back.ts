import { sleep, type Clock } from '../../lib/clock.ts'
import { LedgerError } from '../../contract/ledger.ts'
import type { LedgerSecret } from './ledger-secret.ts'

/**
 * Whether the records were put back to an earlier state, by a restored etcd for example: then pipes that were created since are not in them.
 * Whoever saw a later state notices it, and writes it into the Secret, for whoever starts after.
 */
export interface SetBack extends AsyncDisposable {
  /** @param what is known to be lost, in words */
  notice(what: string): void
  /** Resolves once the Secret says what was noticed: at once where nothing was. */
  marked(): Promise<void>
  /** @throws {LedgerError} nothing may be created: they were, and no person has accepted it */
  assertNot(): Promise<void>
}

const AGAIN_MS = 1_000

export function createSetBack(secret: LedgerSecret, clock: Clock): SetBack {
  const closing = new AbortController()
  let noticed: string | undefined
  let marking = Promise.resolve()
  let isMarked = false
  let reading: Promise<string | undefined> | undefined

  async function mark(what: string): Promise<void> {
    for (;;) {
      try {
        // What somebody has said already stays as it is.
        if ((await secret.read('setBack')) === undefined) await secret.change({ setBack: what })
        isMarked = true
        return
      } catch (error) {
        if (!(error instanceof LedgerError)) throw error
        if (closing.signal.aborted) return
        await sleep(clock, AGAIN_MS, closing.signal).catch(() => undefined)
      }
    }
  }

  /** Many creates ask at once. */
  function readMark(): Promise<string | undefined> {
    reading ??= secret.read('setBack').finally(() => {
      reading = undefined
    })
    return reading
  }

  return {
    notice(what) {
      if (noticed !== undefined) return
      noticed = what
      marking = mark(what)
    },
    marked: () => marking,
    async assertNot() {
      if (noticed === undefined && secret.setBack() === undefined) return
      const marked = await readMark()
      // A person has accepted it.
      if (marked === undefined && isMarked) [noticed, isMarked] = [undefined, false]
      const what = marked ?? noticed
      if (what !== undefined) throw new LedgerError('corrupt', wordsOf(what))
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await marking
    },
  }
}

function wordsOf(what: string): string {
  return (
    `the ledger was put back to an earlier state: ${what}. Nothing is created, as pipes that were created since then may not be in it. ` +
    'Compare it with the platform, say what is there with "pipewright adopt", and then run "pipewright ledger accept".'
  )
}
