import { sameId } from '../lib/same-id.ts'
import type { Action } from './action.ts'
import { adoptOfOlder, invalid } from './gates.ts'
import type { CreateOnceInput, DecideInput, Observed } from './input.ts'
import { isMissingConfirmed, isConfirmed, isDeleted, replaceableFrom, wasGivenUp } from './missing.ts'
import type { Remote } from './record.ts'

type Missing = Observed & { readonly status: 'missing' }

export function massMissing({ surroundings }: DecideInput): Action | undefined {
  if (surroundings.massMissing === undefined) return undefined
  return { type: 'refuse', reason: 'MassMissing', facts: surroundings.massMissing }
}

export function adoptInstead(input: CreateOnceInput): Action | undefined {
  return isGone(input) ? adoptNamed(input, false) : undefined
}

/** Tries a replaced pipe that Git still names, once before each create. */
export function adoptReplaced(input: CreateOnceInput): Action | undefined {
  return input.recorded.conditions?.Synced.reason === 'AdoptRefused' ? undefined : adoptNamed(input, true)
}

function adoptNamed(input: CreateOnceInput, isReplaced: boolean): Action | undefined {
  const { policy, recorded, surroundings } = input
  const { remote } = recorded
  const adopt = [policy.adopt, surroundings.lockedId].find(
    (id) => id !== undefined && !sameId(id, remote?.id) && wasGivenUp(recorded, id) === isReplaced,
  )
  if (adopt === undefined) return undefined
  const by = adopt === policy.adopt ? 'policy.adopt' : 'a Lock'
  const taken: Action = { type: 'adopt', reason: 'Adopt', facts: { pipeId: adopt, by, gone: remote?.id } }
  return invalid(input) ?? adoptOfOlder(input, adopt, by) ?? taken
}

function isGone(input: CreateOnceInput): boolean {
  const { remote } = input.recorded
  const observed = missingOf(input)
  if (remote === undefined || observed === undefined) return false
  if (isSaidGone(input, remote)) return true
  const { misses, isAlone } = observed
  if (isDeleted(misses, isAlone, input.recorded.removal)) return true
  return remote.seenAt === undefined ? isConfirmed(misses) : isMissingConfirmed(misses, isAlone)
}

/** Whether a person said that the pipe is gone, and no read has found it since. */
export function isSaidGone({ policy }: DecideInput, remote: Remote): boolean {
  return (
    remote.saidGoneAt !== undefined || (remote.refutedAt === undefined && sameId(policy.recreate, remote.id))
  )
}

/** Holds if no read has ever found the pipe: it is not visible yet, or the id is wrong. */
export function neverSeen(input: CreateOnceInput): Action | undefined {
  const { recorded } = input
  const { remote } = recorded
  if (remote === undefined || remote.seenAt !== undefined || !isConfirmed(missingOf(input)?.misses))
    return undefined
  return {
    type: 'hold',
    reason: 'NeverSeen',
    facts: {
      ...notFound(input, remote.id),
      origin: remote.origin,
      at: remote.at,
      name: recorded.platformName,
    },
  }
}

/** Holds until several 404s in a row and a witness confirm that the pipe is missing. */
export function missingUnconfirmed(input: CreateOnceInput): Action | undefined {
  const observed = missingOf(input)
  if (observed === undefined || isMissingConfirmed(observed.misses, observed.isAlone)) return undefined
  return unwitnessed(observed) ?? unconfirmed(input, observed.isAlone)
}

/** Refuses after fifteen minutes of 404s in which the API key found no other pipe. */
export function unwitnessed({ misses }: Pick<Missing, 'misses'>): Action | undefined {
  if (misses?.besideSince !== undefined || !isMissingConfirmed(misses, true)) return undefined
  return { type: 'refuse', reason: 'MassMissing', facts: { missing: 0, of: 0, group: 'service' } }
}

export function stillListed(input: CreateOnceInput): Action | undefined {
  return input.surroundings.listed?.hasOwn === true ? unconfirmed(input, false) : undefined
}

function unconfirmed(input: CreateOnceInput, isAlone: boolean): Action {
  const facts = { ...notFound(input, input.recorded.remote?.id ?? ''), isAlone }
  return { type: 'hold', reason: 'MissingUnconfirmed', facts }
}

export function replacedRecently(input: CreateOnceInput): Action | undefined {
  const { recorded, steadyNow, now } = input
  const from = replaceableFrom(recorded.replaced)
  if (from === undefined || from <= steadyNow) return undefined
  const until = now + (from - steadyNow)
  const facts = { ...notFound(input, recorded.remote?.id ?? ''), until }
  return { type: 'hold', reason: 'Missing', until, facts }
}

function notFound({ desired, recorded }: CreateOnceInput, pipeId: string) {
  return { key: desired.key, pipeId, refutedAt: recorded.remote?.refutedAt }
}

function missingOf({ observed }: CreateOnceInput): Missing | undefined {
  return observed.status === 'missing' ? observed : undefined
}
