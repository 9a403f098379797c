import { sameId } from '../lib/same-id.ts'
import type { Action } from './action.ts'
import { invalid } from './gates.ts'
import type { Observed, PipeInput } from './input.ts'
import { isBelieved, isConfirmed, type Witness } from './missing.ts'
import { timeOf } from './outcome-unknown.ts'
import type { RecordedPipe } from './record.ts'
import { replaceableFrom } from './replacement.ts'

/*
 * What stands between a 404 and a new pipe (design §4). Each looks at a pipe that is recorded and was not found by the last
 * reading, and says why it is not replaced; `undefined`: as far as this is concerned, it may be.
 */

type Missing = Observed & { readonly status: 'missing' }

/** A 404 of many at once. */
export function massMissing({ surroundings }: PipeInput): Action | undefined {
  if (surroundings.massMissing === undefined) return undefined
  const { missing, of, group } = surroundings.massMissing
  const whose = group === 'service' ? 'of this service' : 'that this API key can read'
  return {
    type: 'refuse',
    reason: 'MassMissing',
    message:
      `${missing} of ${of} pipes ${whose} are not found at once. That looks like a lost permission or a wrong ` +
      'organizationId or serviceId, not like so many deletions; nothing is created. Check the Service manifest and the key.',
  }
}

/** A manifest or a Lock names another pipe for the key: that one is taken, and nothing is created. */
export function adoptInstead(input: PipeInput): Action | undefined {
  const { policy, recorded, surroundings } = input
  const { pipe, replaced } = recorded
  // An id from before the pipe that nobody has seen yet says nothing of that pipe.
  const isOlder = (id: string) => pipe?.seenAt === undefined && sameId(id, replaced?.id)
  const adopt = [policy.adopt, surroundings.lockedId].find(
    (id) => id !== undefined && !sameId(id, pipe?.id) && !isOlder(id),
  )
  if (adopt === undefined || !isGone(input)) return undefined
  const who = adopt === policy.adopt ? 'policy.adopt' : 'a Lock'
  const taken: Action = {
    type: 'adopt',
    reason: 'Adopt',
    pipeId: adopt,
    message: `Pipe ${pipe?.id} is gone; pipe ${adopt} is taken over, as ${who} says.`,
  }
  return invalid(input) ?? taken
}

/** What was never seen is given up for another one as soon as that many 404s say so: nothing else is to be expected of it. */
function isGone(input: PipeInput): boolean {
  const { pipe } = input.recorded
  const observed = missingOf(input)
  if (pipe === undefined || observed === undefined) return false
  if (isSaidGone(input, pipe)) return true
  return pipe.seenAt === undefined
    ? isConfirmed(observed.misses)
    : isBelieved(observed.misses, observed.witness)
}

/** Whether a person said of this pipe that it is gone, and no reading has found it since. */
export function isSaidGone({ policy }: PipeInput, pipe: RecordedPipe): boolean {
  return pipe.saidGoneAt !== undefined || (pipe.refutedAt === undefined && sameId(policy.recreate, pipe.id))
}

/** No reading ever found it: it may be there all the same, not visible yet, or the id that of something else. */
export function neverSeen(input: PipeInput): Action | undefined {
  const { recorded } = input
  const { pipe } = recorded
  if (pipe === undefined || pipe.seenAt !== undefined || !isConfirmed(missingOf(input)?.misses))
    return undefined
  return {
    type: 'hold',
    reason: 'NeverSeen',
    until: undefined,
    message:
      `Pipe ${pipe.id} was ${pipe.origin} at ${timeOf(pipe.at)}, and no reading has found it so far. It may not be visible yet, ` +
      `or the id may be that of something else; it is never replaced by itself. Look for pipe "${recorded.platformName}" in the ` +
      `console. ${gone(input, pipe.id)} If it is there under another id, set policy.adopt: <that id>.`,
  }
}

/** It takes several 404s in a row, and proof that the same credential still sees the service. */
export function unbelieved(input: PipeInput): Action | undefined {
  const { recorded } = input
  const observed = missingOf(input)
  if (observed === undefined || isBelieved(observed.misses, observed.witness)) return undefined
  const id = recorded.pipe?.id ?? ''
  return {
    type: 'hold',
    reason: 'MissingUnconfirmed',
    until: undefined,
    message: `Pipe ${id} was not found. ${proof(observed.witness)} ${gone(input, id)}`,
  }
}

/** The same at each look, and in each process: a text that changed would be news. */
function proof(witness: Witness): string {
  return witness === 'nobody'
    ? 'That is believed after three answers in a row over at least fifteen minutes, since the service has no other pipe ' +
        'whose answer would show that the permission to read is not what was lost.'
    : 'That is believed after three answers in a row over at least a minute, while another pipe of the service is found. As long as ' +
        'none is found, the permission to read may be what is lost.'
}

/** A pipe that keeps going is not created again and again. */
export function replacedRecently(input: PipeInput): Action | undefined {
  const { recorded, steadyNow, now } = input
  const from = replaceableFrom(recorded.replaced)
  if (from === undefined || from <= steadyNow) return undefined
  const until = now + (from - steadyNow)
  const id = recorded.pipe?.id ?? ''
  return {
    type: 'hold',
    reason: 'ReplacedRecently',
    until,
    message:
      `Pipe ${id} is gone, and it replaced another one a short time ago. Find out what removes it. A new one is created at ` +
      `${timeOf(until)}. ${gone(input, id)}`,
  }
}

/** The word of a person that ends the wait. */
function gone({ desired, recorded }: PipeInput, id: string): string {
  const { refutedAt } = recorded.pipe ?? {}
  const inGit =
    refutedAt === undefined
      ? `set policy.recreate: ${id}`
      : `take policy.recreate out and write it again: it was there already when the pipe was found at ${timeOf(refutedAt)}`
  return `If you know that it is gone, run "pipewright resolve ${desired.key} --recreate", or ${inGit}.`
}

function missingOf({ observed }: PipeInput): Missing | undefined {
  return observed.status === 'missing' ? observed : undefined
}
