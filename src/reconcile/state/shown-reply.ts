import type { Difference } from '../../kinds/difference.ts'
import { maskEchoes, openTexts, referenceEchoes, sensitiveTexts } from '../../kinds/mask.ts'
import { type EchoMask, echoMask } from '../../lib/echo.ts'
import type { JsonObject } from '../../lib/json.ts'
import { isUuid } from '../../lib/same-id.ts'
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

/**
 * A reading without the secrets that were sent: a platform may repeat one in a state, in a field where none belongs, or in what
 * tells an item of a list. What is compared is compared before.
 * @param echoes masks what the reply may repeat of others
 */
export function shownReply(seen: Shown, sent: Sent, echoes: EchoMask): Shown {
  const mask = replyMask(sent, echoes)
  return {
    state: seen.state === undefined ? undefined : mask(seen.state),
    body: maskEchoes(seen.body, mask),
    differences: shownDifferences(seen.differences, mask),
  }
}

/** A field may be named by an item that only the platform has. */
export function shownDifferences(differences: readonly Difference[], mask: EchoMask): readonly Difference[] {
  return differences.map((one) => ({
    ...one,
    field: one.field.replace(/\[.*\]/s, (items) => mask(items)),
    observed: mask(one.observed),
  }))
}

/** A time, as every reply has it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

/** States are words; looking for secrets in every one of ten thousand readings is not worth its time. */
const WORD = /^[A-Za-z]{0,24}$/

/** Masks the texts of a reply, but those that were asked for. @param echoes as in {@link shownReply} */
export function replyMask(sent: Sent, echoes: EchoMask): EchoMask {
  const asked = new Set(sent.body === undefined ? [] : openTexts(sent.body))
  const secrets = new Set([...sent.secrets.values()].map((secret) => secret.reveal().toLowerCase()))
  let own: EchoMask | undefined
  return (text) => {
    if (asked.has(text) || TIME.test(text)) return text
    const shown = echoes(text)
    const isUsual = (WORD.test(text) || isUuid(text)) && !secrets.has(text.toLowerCase())
    if (isUsual) return shown
    own ??= echoesOf(sent)
    return own(shown)
  }
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
