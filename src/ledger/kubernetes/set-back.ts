import { sleep, type Clock } from '../../lib/clock.ts'
import type { Emit } from '../../contract/events.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { lossesIn, openSetBack, type LedgerSecret } from './ledger-secret.ts'
import {
  addLosses,
  inWords,
  isNone,
  missing,
  type Loss,
  type Losses,
  noLosses,
  packedLosses,
  pipesIn,
  removeLosses,
} from './losses.ts'

/**
 * Whether the records were put back to an earlier state, by a restored etcd for example: then pipes that were created since are not in them.
 * Whoever saw a later state writes that into the Secret, and nobody creates before a person has accepted it.
 */
export interface SetBack extends AsyncDisposable {
  /** Tells the Secret, however often it takes. @param what is known to be lost: a record, or something else in words */
  notice(what: Loss | string): void
  /** As {@link notice}, and the Secret says it when this is over. @throws {LedgerError} it cannot be told */
  noticeNow(what: string): Promise<void>
  /** Why nothing may be created, in words, as far as it is known here. */
  known(): string | undefined
  /** All that is known here to be lost. */
  losses(): Losses
  /** As the Secret says now. @throws {LedgerError} nothing may be created: they were, and no person has accepted it; or it cannot be read */
  assertNot(): Promise<void>
}

export interface SetBackOptions {
  readonly secret: LedgerSecret
  readonly clock: Clock
  /** Tells nobody else: this process only reads. */
  readonly isReader: boolean
  readonly emit: Emit
}

const AGAIN_MS = 1_000
/** What is noticed one after the other is told in few writes. */
const TOGETHER_MS = 100
/** So often it is asked whether a person has accepted it: what is shown says so soon, also where nothing is created. */
const ACCEPTED_MS = 5_000
const ID_LOST = 'The ledger does not hold the id of its pipe any more.'
const CREATE_LOST =
  'The ledger does not hold any more that it was being created. Look for its pipe on the platform, for its id.'

export function createSetBack({ secret, clock, isReader, emit }: SetBackOptions): SetBack {
  const closing = new AbortController()
  /** What was noticed, and the Secret does not say yet. */
  const unsaid = noLosses()
  let news = noLosses()
  /** What is unsaid, in words. */
  let unsaidWords: string | undefined
  let telling: Promise<void> | undefined
  /** Why it could not be told. */
  let failed = ''
  /** How often the Secret was seen to say that they were: when it says less, it was put back itself. */
  let seen = 0
  let reading: Promise<void> | undefined
  let waiting: Promise<void> | undefined
  if (!isReader) waitForAccept()

  /** @throws {LedgerError} */
  async function say(what: Losses): Promise<void> {
    await secret.read('setBacks')
    await secret.change(() => {
      const { times } = secret.setBack()
      const all = lossesIn(secret)
      const before = packedLosses(all)
      addLosses(all, what)
      const packed = packedLosses(all)
      if (packed === before && openSetBack(secret) !== undefined) return undefined
      return { setBack: inWords(all), lost: packed, setBacks: String(Math.max(times, seen) + 1) }
    })
    if (openSetBack(secret) === undefined)
      throw new LedgerError('io', 'a person has accepted meanwhile what was noticed before')
    seen = Math.max(seen, secret.setBack().times)
  }

  function tellNews(): void {
    if (isNone(news)) return
    const now = news
    news = noLosses()
    tellLog(now)
  }

  /** One for all of it, and one for each pipe: its id may be known to this process alone. */
  function tellLog(losses: Losses): void {
    emit({ type: 'LedgerPutBack', loss: undefined, message: wordsOf(inWords(losses)) })
    for (const loss of pipesIn(losses).map(missing))
      emit({
        type: 'LedgerPutBack',
        loss,
        message: `${loss.id === undefined ? CREATE_LOST : ID_LOST} Unless it is adopted, it is created a second time once the ledger is accepted as it is.`,
      })
  }

  async function tell(): Promise<void> {
    tellNews()
    if (!isReader) await tellSecret()
    telling = undefined
  }

  async function tellSecret(): Promise<void> {
    while (!isNone(unsaid) && !closing.signal.aborted) {
      const now = noLosses()
      addLosses(now, unsaid)
      let pauseMs = TOGETHER_MS
      try {
        await say(now)
        waitForAccept()
        removeLosses(unsaid, now)
        unsaidWords = undefined
      } catch (error) {
        if (!(error instanceof LedgerError)) throw error
        pauseMs = AGAIN_MS
        failed = ` The Secret of the ledger cannot be told: ${error.message}`
      }
      await sleep(clock, pauseMs, closing.signal).catch(() => undefined)
      tellNews()
    }
  }

  function notice(what: Loss | string): void {
    addLosses(unsaid, what)
    addLosses(news, what)
    unsaidWords = undefined
    // What is noticed at once is told together.
    telling ??= Promise.resolve().then(tell)
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

  function waitForAccept(): void {
    if (openSetBack(secret) !== undefined) waiting ??= untilAccepted()
  }

  async function untilAccepted(): Promise<void> {
    while (openSetBack(secret) !== undefined && !closing.signal.aborted) {
      await sleep(clock, ACCEPTED_MS, closing.signal).catch(() => undefined)
      if (!closing.signal.aborted) await readSecret().catch(ignoreLedgerError)
    }
    waiting = undefined
  }

  function known(): string | undefined {
    if (!isNone(unsaid)) {
      unsaidWords ??= inWords(unsaid)
      return `${wordsOf(unsaidWords)}${failed}`
    }
    const said = openSetBack(secret)
    return said === undefined ? undefined : wordsOf(said)
  }

  return {
    notice,
    async noticeNow(what) {
      const lost = noLosses()
      addLosses(lost, what)
      tellLog(lost)
      await say(lost)
    },
    known,
    losses() {
      const all = lossesIn(secret)
      addLosses(all, unsaid)
      return all
    },
    async assertNot() {
      if (isNone(unsaid)) await readSecret()
      const { times } = secret.setBack()
      if (times < seen) notice('its Secret says less than it said before')
      seen = Math.max(seen, times)
      const why = known()
      if (why !== undefined) throw new LedgerError('corrupt', why)
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await Promise.all([telling, waiting])
      // Perhaps nobody else knows it: it is said once more, and not waited for any longer.
      if (!isReader && !isNone(unsaid)) await say(unsaid).catch(ignoreLedgerError)
    },
  }
}

function ignoreLedgerError(error: unknown): void {
  if (!(error instanceof LedgerError)) throw error
}

function wordsOf(what: string): string {
  return (
    `the ledger was put back to an earlier state: ${what}. Nothing is created, as pipes that were created since then may not be in it. ` +
    'Compare it with the platform: "pipewright plan" names each pipe that is known to be missing. Say what is there with "pipewright adopt", ' +
    'and then run "pipewright ledger accept".'
  )
}
