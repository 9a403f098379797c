import { sleep, type Clock } from '../../lib/clock.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { openSetBack, type LedgerSecret } from './ledger-secret.ts'

/**
 * Whether the records were put back to an earlier state, by a restored etcd for example: then pipes that were created since are not in them.
 * Whoever saw a later state writes that into the Secret, and nobody creates before a person has accepted it.
 */
export interface SetBack extends AsyncDisposable {
  /** Tells the Secret, however often it takes. @param what is known to be lost, in words */
  notice(what: string): void
  /** As {@link notice}, and the Secret says it when this is over. @throws {LedgerError} it cannot be told */
  noticeNow(what: string): Promise<void>
  /** Why nothing may be created, in words, as far as it is known here. */
  known(): string | undefined
  /** As the Secret says now. @throws {LedgerError} nothing may be created: they were, and no person has accepted it; or it cannot be read */
  assertNot(): Promise<void>
}

export interface SetBackOptions {
  readonly secret: LedgerSecret
  readonly clock: Clock
  /** Tells nobody else: this process only reads. */
  readonly isReader: boolean
  /** Hears what is noticed, in words: once, until the Secret says it. */
  readonly onNotice: (what: string) => void
}

const AGAIN_MS = 1_000
/** Of many things that are noticed at once, so many are named. */
const NAMED = 5
/** What the Secret says of it is not made much longer than that: characters. */
const LONGEST = 1_500
const MORE = '; and more'

export function createSetBack({ secret, clock, isReader, onNotice }: SetBackOptions): SetBack {
  const closing = new AbortController()
  /** What was noticed, and the Secret does not say yet. */
  const unsaid = new Set<string>()
  let saying: Promise<void> | undefined
  /** Why it could not be told. */
  let failed = ''
  /** How often the Secret was seen to say that they were: when it says less, it was put back itself. */
  let seen = 0
  let reading: Promise<void> | undefined

  /** @throws {LedgerError} */
  async function say(what: string): Promise<void> {
    await secret.read('setBacks')
    const { times } = secret.setBack()
    const said = openSetBack(secret)
    const next = said === undefined ? what : joined(said, what)
    if (next !== said) await secret.change({ setBack: next, setBacks: String(Math.max(times, seen) + 1) })
    if (openSetBack(secret) === undefined)
      throw new LedgerError('io', 'a person has accepted meanwhile what was noticed before')
    seen = Math.max(seen, secret.setBack().times)
  }

  async function sayAll(): Promise<void> {
    while (unsaid.size > 0 && !closing.signal.aborted) {
      const now = [...unsaid]
      try {
        await say(inWords(now))
        for (const what of now) unsaid.delete(what)
      } catch (error) {
        if (!(error instanceof LedgerError)) throw error
        failed = ` The Secret of the ledger cannot be told: ${error.message}`
      }
      await sleep(clock, AGAIN_MS, closing.signal).catch(() => undefined)
    }
    saying = undefined
  }

  function notice(what: string): void {
    if (unsaid.size === 0) onNotice(what)
    unsaid.add(what)
    if (!isReader) saying ??= sayAll()
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

  function known(): string | undefined {
    if (unsaid.size > 0) return `${wordsOf(inWords([...unsaid]))}${failed}`
    const said = openSetBack(secret)
    return said === undefined ? undefined : wordsOf(said)
  }

  return {
    notice,
    async noticeNow(what) {
      onNotice(what)
      await say(what)
    },
    known,
    async assertNot() {
      if (unsaid.size === 0) await readSecret()
      const { times } = secret.setBack()
      if (times < seen) notice('its Secret says less than it said before')
      seen = Math.max(seen, times)
      const why = known()
      if (why !== undefined) throw new LedgerError('corrupt', why)
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await saying
    },
  }
}

function inWords(noticed: readonly string[]): string {
  const named = noticed.slice(0, NAMED).join('; ')
  return noticed.length > NAMED ? `${named}; and ${noticed.length - NAMED} more` : named
}

/** What is noticed while a person has not accepted what was noticed before: both are to be accepted. */
function joined(said: string, what: string): string {
  if (said.includes(what) || said.endsWith(MORE)) return said
  return said.length < LONGEST ? `${said}; ${what}` : `${said}${MORE}`
}

function wordsOf(what: string): string {
  return (
    `the ledger was put back to an earlier state: ${what}. Nothing is created, as pipes that were created since then may not be in it. ` +
    'Compare it with the platform, say what is there with "pipewright adopt", and then run "pipewright ledger accept".'
  )
}
