import type { Difference } from '../../kinds/difference.ts'
import { maskEchoes, referenceEchoes, sensitiveTexts } from '../../kinds/mask.ts'
import { type EchoMask, echoMask } from '../../lib/echo.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Secret } from '../../lib/secret.ts'
import { RemoteError } from '../../contract/remote-error.ts'

/** What a platform was told for a key. */
export interface Sent {
  /** With references; what is written out under a sensitive name is kept back as well. */
  readonly body: JsonObject | undefined
  /** By the dotted paths of their references. */
  readonly secrets: ReadonlyMap<string, Secret>
}

/** What is shown of a reply. */
interface Shown {
  readonly state: string | undefined
  readonly body: JsonObject
  readonly differences: readonly Difference[]
}

/** States are words; looking for secrets in every one of ten thousand readings is not worth its time. */
const WORD = /^[A-Za-z]{0,24}$/

/**
 * A reading without the secrets that were sent: a platform may repeat one in a state, or in a field where none belongs. What is
 * compared is compared before.
 */
export function shownReply(seen: Shown, sent: Sent): Shown {
  if (!isOdd(seen, sent)) return seen
  const echoes = echoesOf(sent)
  return {
    state: seen.state === undefined ? undefined : echoes(seen.state),
    body: maskEchoes(seen.body, echoes),
    differences: seen.differences.map((one) => ({ ...one, observed: echoes(one.observed) })),
  }
}

function isOdd({ state = '', body, differences }: Shown, sent: Sent): boolean {
  if (!WORD.test(state) || differences.length > 0) return true
  const text = JSON.stringify(body).toLowerCase()
  return [...sent.secrets.values()].some((secret) =>
    text.includes(JSON.stringify(secret.reveal()).slice(1, -1).toLowerCase()),
  )
}

function echoesOf({ body, secrets }: Sent): EchoMask {
  const written = body === undefined ? [] : sensitiveTexts(JSON.stringify(body), new Set())
  return echoMask([...referenceEchoes(secrets), ...written])
}

/** The error of a reading in which the platform repeats them. */
export function shownFailure(failure: unknown, sent: Sent): unknown {
  if (!(failure instanceof RemoteError)) return failure
  const echoes = echoesOf(sent)
  const message = echoes(failure.message)
  if (message === failure.message) return failure
  return new RemoteError(message, { ...failure.facts, what: echoes(failure.facts.what) })
}
