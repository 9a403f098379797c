import { nameOf } from '../kinds/key.ts'
import type { Action } from './action.ts'
import { isWaiting } from './backoff.ts'
import type { DecideInput, PipeInput } from './input.ts'
import { attemptWords, outcomeUnknownWords, unansweredIntent, undecidedIntent } from './outcome-unknown.ts'
import type { LedgerRecord } from './record.ts'

/** A reason to stop before deciding further; `undefined` lets the input pass. */
type Gate<Input extends DecideInput = DecideInput> = (input: Input) => Action | undefined

/** The first gate that stops the input. */
export function firstStop<Input extends DecideInput>(
  input: Input,
  gates: readonly Gate<Input>[],
): Action | undefined {
  for (const gate of gates) {
    const stop = gate(input)
    if (stop !== undefined) return stop
  }
  return undefined
}

/** Something exists on the platform, or may exist, because of what we did for this key. */
export function leftSomething(record: LedgerRecord): boolean {
  return record.pipe !== undefined || record.upsert !== undefined || undecidedIntent(record) !== undefined
}

/** The manifest is gone for good: shown until a person forgets it or brings it back. */
export function orphaned(input: DecideInput): Action | undefined {
  const { desired, recorded } = input
  if (desired.state !== 'absent') return undefined
  const intent = unansweredIntent(input)
  const where = recorded.file === undefined ? '' : ` (it was in ${recorded.file})`
  return {
    type: 'report',
    reason: 'Orphaned',
    differences: [],
    message:
      intent === undefined
        ? `The manifest is gone${where}, and ${leftBehind(recorded)} stays on the platform: nothing is deleted. ` +
          `Bring the manifest back, or remove it in the console and run "pipewright forget ${desired.key}".`
        : `The manifest is gone${where}, and nobody knows whether its pipe was created: the create was ${attemptWords(intent)}. ` +
          `Bring the manifest back, or look for the pipe in the console, remove it there, and run ` +
          `"pipewright forget ${desired.key}".`,
  }
}

function leftBehind({ pipe }: LedgerRecord): string {
  return pipe === undefined ? 'what was applied' : `pipe ${pipe.id}`
}

/** The manifest was not found by the last reading or two. */
export function vanishing(input: DecideInput): Action | undefined {
  if (input.desired.state !== 'vanishing') return undefined
  return {
    type: 'hold',
    reason: 'ManifestVanishing',
    until: undefined,
    message: `The manifest was not found; it counts as gone after three readings that agree. Nothing changes until then.${doubtWords(input)}`,
  }
}

/** A reading that is not believed changes nothing, and lets nothing be written that it speaks against. */
export function unfound({ surroundings }: DecideInput): Action | undefined {
  if (!surroundings.unfound) return undefined
  return {
    type: 'hold',
    reason: 'ManifestVanishing',
    until: undefined,
    message:
      'The manifest was not found by the last reading, which is not believed. Nothing is created or applied until one is.',
  }
}

/** Left alone, with a reason and an end. */
export function suspended(input: DecideInput): Action | undefined {
  if (input.policy.suspend === undefined) return undefined
  const { reason, until } = input.policy.suspend
  const end = Date.parse(until)
  if (end <= input.now) return undefined
  return {
    type: 'hold',
    reason: 'Suspended',
    until: end,
    message: `Suspended until ${until}: ${reason}. It is left alone and goes on by itself then.${doubtWords(input)}`,
  }
}

/** The manifest has errors now. */
export function invalid(input: DecideInput): Action | undefined {
  const { desired } = input
  if (desired.state !== 'invalid') return undefined
  const rest =
    desired.fingerprint === undefined
      ? 'Nothing is done until it is valid.'
      : 'The last valid one is kept and looked after until it is valid again.'
  return {
    type: 'hold',
    reason: 'InvalidManifest',
    until: undefined,
    message: `${desired.problem ?? 'The manifest has errors.'} ${rest}${doubtWords(input)}`,
  }
}

/** A create that may have worked waits for a person, whatever else holds it. */
function doubtWords(input: DecideInput): string {
  const intent = unansweredIntent(input)
  if (intent === undefined) return ''
  const { desired, recorded, surroundings } = input
  return ` ${outcomeUnknownWords({ key: desired.key, record: recorded, intent, knownIds: surroundings.knownIds })}`
}

export function serviceInvalid({ surroundings }: DecideInput): Action | undefined {
  if (surroundings.serviceProblem === undefined) return undefined
  return { type: 'refuse', reason: 'ServiceInvalid', message: surroundings.serviceProblem }
}

export function dependencyNotReady({ surroundings }: DecideInput): Action | undefined {
  if (surroundings.notReady.length === 0) return undefined
  return {
    type: 'refuse',
    reason: 'DependencyNotReady',
    message: `It waits for ${surroundings.notReady.join(', ')} (policy.dependsOn) to be ready, and goes on by itself then.`,
  }
}

export function secretUnavailable({ surroundings }: DecideInput): Action | undefined {
  if (surroundings.missingSecrets.length === 0) return undefined
  return {
    type: 'refuse',
    reason: 'SecretUnavailable',
    message:
      `No secret at ${surroundings.missingSecrets.join(', ')}. ` +
      'Mount the secret there or correct the secretRef; it goes on by itself then.',
  }
}

/** It failed and waits; an edited manifest or a rotated secret starts afresh. */
export function backingOff({ desired, recorded, now }: DecideInput): Action | undefined {
  const { backoff } = recorded
  if (backoff === undefined || !isWaiting(backoff, now)) return undefined
  if (desired.fingerprint !== undefined && attemptDigest(desired.fingerprint) !== backoff.digest)
    return undefined
  return {
    type: 'hold',
    reason: 'BackingOff',
    until: backoff.until,
    message: `${recorded.conditions?.Synced.message ?? 'The last attempt failed.'} It is tried again at ${new Date(backoff.until).toISOString()}.`,
  }
}

/** What an attempt depends on: the body, and the values of its secrets. */
export function attemptDigest(fingerprint: {
  readonly digest: string
  readonly secrets: Readonly<Record<string, string>>
}): string {
  const secrets = Object.entries(fingerprint.secrets).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [fingerprint.digest, ...secrets.map(([path, hash]) => `${path}=${hash}`)].join('\n')
}

/** Another key has the pipe that this one may be: a copy, a rename, or one of which only half is seen yet. */
export function kinFirst({ surroundings, desired, recorded }: PipeInput): Action | undefined {
  const { kin } = surroundings
  if (kin === undefined) return undefined
  const where = kin.file === undefined ? '' : ` (${kin.file})`
  const isNew = `if ${nameOf(desired.key)} is to be a new pipe beside it, set policy.replaces: ${kin.key}.`
  switch (kin.how) {
    case 'gone':
      return {
        type: 'refuse',
        reason: 'RenameSuspected',
        message:
          `${kin.key} is recorded, has no manifest any more, and looks like ${desired.key}. If it is the same pipe, set ` +
          `${recorded.pipe === undefined ? `policy.renamedFrom: ${kin.key}` : `policy.adopt: <its id>, then run "pipewright forget ${kin.key}"`}; ${isNew}`,
      }
    case 'namesake':
      return {
        type: 'refuse',
        reason: 'NameTaken',
        message:
          `${kin.key}${where} has the same service, and the same spec.name or all else the same. If this one is its new name, ` +
          `remove that manifest: the pipe is kept. If it is a copy, give it a spec of its own; ${isNew}`,
      }
    case 'renamed-from':
      return {
        type: 'refuse',
        reason: 'RenameWaiting',
        message:
          `policy.renamedFrom names ${kin.key}${where}, whose record cannot move yet: its manifest is still there, or its ` +
          'creation is under way. Remove that manifest; the record moves by itself then.',
      }
  }
}

/** Files that one message names, at most. */
const FILES_SHOWN = 3

/** Nothing was ever done for it, as far as the ledger knows: with the ledger lost, a Lock would know better. */
export function lockUnreadable({ surroundings, recorded }: PipeInput): Action | undefined {
  const files = surroundings.hiddenLocks
  if (files.length === 0 || recorded.pipe !== undefined || recorded.intent !== undefined) return undefined
  const shown = files.slice(0, FILES_SHOWN).map((file) => (file === '' ? 'the manifests directory' : file))
  const left = files.length - shown.length
  return {
    type: 'refuse',
    reason: 'LockUnreadable',
    message:
      `${shown.join(', ')}${left > 0 ? ` and ${left} more` : ''} cannot be read as a whole and may hold a Lock that names ` +
      'the pipe to take over. Correct that; it goes on by itself then.',
  }
}

export function createBrake({ surroundings }: PipeInput): Action | undefined {
  const { brake } = surroundings
  if (brake === undefined) return undefined
  return {
    type: 'refuse',
    reason: 'CreateBrake',
    message:
      `${brake.wanted} creations are wanted at once, and at most ${brake.limit} are let pass (--max-creates). If that is ` +
      'right, raise the limit, or run "pipewright apply --yes" while no daemon runs; if not, look at what changed in the ' +
      'directory.',
  }
}
