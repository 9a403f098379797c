import { sleep, type Clock } from '../../lib/clock.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { openSetBack, type LedgerSecret } from './ledger-secret.ts'

/**
 * Whether the records were put back to an earlier state, by a restored etcd for example: then pipes that were created since are not in them.
 * Whoever saw a later state writes that into the Secret, and nobody creates before a person has accepted it.
 */
export interface SetBack extends AsyncDisposable {
  /** @param what is known to be lost, in words */
  notice(what: string): void
  /** As the Secret says now. @throws {LedgerError} nothing may be created: they were, and no person has accepted it; or it cannot be read */
  assertNot(): Promise<void>
}

const AGAIN_MS = 1_000

/** @param onNotice hears what is noticed, in words: once, until a person has accepted it */
export function createSetBack(
  secret: LedgerSecret,
  clock: Clock,
  onNotice: (what: string) => void = () => undefined,
): SetBack {
  const closing = new AbortController()
  let noticed: string | undefined
  let saying: Promise<void> | undefined
  /** How often the Secret was seen to say that they were: when it says less, it was put back itself. */
  let seen = 0
  let reading: Promise<void> | undefined

  async function say(what: string): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await secret.read('setBacks')
        const { times } = secret.setBack()
        // What somebody has said already stays as it is; and of many things that are noticed at once, one is enough.
        if (openSetBack(secret) === undefined)
          await secret.change({ setBack: what, setBacks: String(Math.max(times, seen) + 1) })
        if (openSetBack(secret) !== undefined) {
          seen = Math.max(seen, secret.setBack().times)
          noticed = undefined
          return
        }
      } catch (error) {
        if (!(error instanceof LedgerError)) throw error
      }
      await sleep(clock, AGAIN_MS, closing.signal).catch(() => undefined)
    }
  }

  function notice(what: string): void {
    if (noticed !== undefined) return
    noticed = what
    onNotice(what)
    saying = say(what)
  }

  /** Many creates ask at once. */
  function readSecret(): Promise<void> {
    reading ??= secret
      .read('setBacks')
      .then(() => undefined)
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  return {
    notice,
    async assertNot() {
      if (noticed === undefined) await readSecret()
      const { times } = secret.setBack()
      if (times < seen) notice('its Secret says less than it said before')
      seen = Math.max(seen, times)
      const why = noticed ?? openSetBack(secret)
      if (why !== undefined) throw new LedgerError('corrupt', wordsOf(why))
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await saying
    },
  }
}

function wordsOf(what: string): string {
  return (
    `the ledger was put back to an earlier state: ${what}. Nothing is created, as pipes that were created since then may not be in it. ` +
    'Compare it with the platform, say what is there with "pipewright adopt", and then run "pipewright ledger accept".'
  )
}
