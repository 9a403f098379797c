import { sameId } from '../lib/same-id.ts'
import type { Action } from './action.ts'
import { adoptOfOlder, invalid } from './gates.ts'
import type { Observed, CreateOnceInput } from './input.ts'
import { isBelieved, isConfirmed, isDeleted, replaceableFrom, wasGivenUp } from './missing.ts'
import type { Remote } from './record.ts'

/*
 * What stands between a 404 and a new pipe (design §4). Each looks at a pipe that is recorded and was not found by the last
 * reading, and says why it is not replaced; `undefined`: as far as this is concerned, it may be.
 */

type Missing = Observed & { readonly status: 'missing' }

/** A 404 of many at once. */
export function massMissing({ surroundings }: CreateOnceInput): Action | undefined {
  if (surroundings.massMissing === undefined) return undefined
  return { type: 'refuse', reason: 'MassMissing', facts: surroundings.massMissing }
}

/** A manifest or a Lock names another pipe for the key: that one is taken, and nothing is created. */
export function adoptInstead(input: CreateOnceInput): Action | undefined {
  const { policy, recorded, surroundings } = input
  const { remote } = recorded
  const adopt = [policy.adopt, surroundings.lockedId].find(
    (id) => id !== undefined && !sameId(id, remote?.id) && !wasGivenUp(recorded, id),
  )
  if (adopt === undefined || !isGone(input)) return undefined
  const by = adopt === policy.adopt ? 'policy.adopt' : 'a Lock'
  const taken: Action = {
    type: 'adopt',
    reason: 'Adopt',
    pipeId: adopt,
    facts: { pipeId: adopt, by, gone: remote?.id },
  }
  return invalid(input) ?? adoptOfOlder(input, adopt, by) ?? taken
}

/** What was never seen is given up for another one as soon as that many 404s say so: nothing else is to be expected of it. */
function isGone(input: CreateOnceInput): boolean {
  const { remote } = input.recorded
  const observed = missingOf(input)
  if (remote === undefined || observed === undefined) return false
  if (isSaidGone(input, remote)) return true
  if (isDeleted(observed.misses, observed.witness, input.recorded.removal)) return true
  return remote.seenAt === undefined
    ? isConfirmed(observed.misses)
    : isBelieved(observed.misses, observed.witness)
}

/** Whether a person said of this pipe that it is gone, and no reading has found it since. */
export function isSaidGone({ policy }: CreateOnceInput, remote: Remote): boolean {
  return (
    remote.saidGoneAt !== undefined || (remote.refutedAt === undefined && sameId(policy.recreate, remote.id))
  )
}

/** No reading ever found it: it may be there all the same, not visible yet, or the id that of something else. */
export function neverSeen(input: CreateOnceInput): Action | undefined {
  const { recorded } = input
  const { remote } = recorded
  if (remote === undefined || remote.seenAt !== undefined || !isConfirmed(missingOf(input)?.misses))
    return undefined
  return {
    type: 'hold',
    reason: 'NeverSeen',
    until: undefined,
    facts: {
      ...notFound(input, remote.id),
      origin: remote.origin,
      at: remote.at,
      name: recorded.platformName,
    },
  }
}

/** It takes several 404s in a row, and proof that the same credential still sees the service. */
export function unbelieved(input: CreateOnceInput): Action | undefined {
  const { recorded } = input
  const observed = missingOf(input)
  if (observed === undefined || isBelieved(observed.misses, observed.witness)) return undefined
  return {
    type: 'hold',
    reason: 'MissingUnconfirmed',
    until: undefined,
    facts: { ...notFound(input, recorded.remote?.id ?? ''), isAlone: observed.witness === 'nobody' },
  }
}

/** It is not found by its id, and is in the list of all pipes: one of the two is wrong. */
export function stillListed(input: CreateOnceInput): Action | undefined {
  if (input.surroundings.listed?.hasOwn !== true) return undefined
  const facts = { ...notFound(input, input.recorded.remote?.id ?? ''), isAlone: false }
  return { type: 'hold', reason: 'MissingUnconfirmed', until: undefined, facts }
}

/** A pipe that keeps going is not created again and again. */
export function replacedRecently(input: CreateOnceInput): Action | undefined {
  const { recorded, steadyNow, now } = input
  const from = replaceableFrom(recorded.replaced)
  if (from === undefined || from <= steadyNow) return undefined
  const until = now + (from - steadyNow)
  const facts = { ...notFound(input, recorded.remote?.id ?? ''), until }
  return { type: 'hold', reason: 'ReplacedRecently', until, facts }
}

function notFound({ desired, recorded }: CreateOnceInput, pipeId: string) {
  return { key: desired.key, pipeId, refutedAt: recorded.remote?.refutedAt }
}

function missingOf({ observed }: CreateOnceInput): Missing | undefined {
  return observed.status === 'missing' ? observed : undefined
}
