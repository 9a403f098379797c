import type { Action } from './action.ts'
import { decideUpsert } from './decide-upsert.ts'
import { decideCreateOnce } from './decide-create-once.ts'
import type { DecideInput, ReadOnlyInput, ReferenceInput } from './input.ts'
import { attemptFacts, undecidedIntent } from './outcome-unknown.ts'
import { sameId } from '../lib/same-id.ts'
import { firstStop, invalid, orphaned, suspended, manifestMissing, secretUnavailable } from './gates.ts'

/**
 * The next action for one key, with a reason. Pure. Each row is a row of `test/plan/decide.test.ts`.
 *
 * | desired | recorded | observed | action, reason |
 * |---|---|---|---|
 * | valid, new | – | – | create New · adopt · refuse RenameSuspected, NameTaken, RenameWaiting, CreateLimit, DependencyNotReady, SecretUnavailable |
 * | valid, new | – | an unreadable file might hold a Lock | refuse LockUnreadable, unless policy.adopt or a Lock names an id |
 * | valid | intent without outcome | – | refuse OutcomeUnknown, until an operator settles it |
 * | valid | intent without outcome, with an id in the reply | – | adopt FoundByRead, if a read finds the new pipe |
 * | valid | intent without outcome | one unrecorded, equal, newer pipe of that name listed | adopt FoundByList |
 * | valid, new | – | one unrecorded, equal pipe of that name listed | adopt FoundByList |
 * | valid, new, or intent without outcome | – | several listed, or a different one | refuse Ambiguous |
 * | valid, new | – | recorded pipes are missing in the list | refuse MassMissing |
 * | valid | dismissed intent | – | create RetryApproved |
 * | valid | failed intent, effect none | – | create RetryFailed, after its back-off (hold BackingOff) |
 * | valid | id | equal | observe InSync |
 * | valid, unchanged | id | differs | report Drifted |
 * | valid, edited | id | any | report NotUpdatable |
 * | valid, edited to the observed values | id | equal, all edited fields returned | observe Accepted |
 * | valid, rotated secret | id | any | report SecretRotated |
 * | valid, secret without a recorded value | id | equal | report SecretRotated, or SecretUnavailable if not mounted |
 * | valid | id | 404, with 30 % (at least 3) of the service or credential | refuse MassMissing |
 * | valid | id that was never read | 404, confirmed | hold NeverSeen |
 * | valid | id | 404, unconfirmed or unwitnessed | hold MissingUnconfirmed |
 * | valid | id, replaced before | 404, confirmed and witnessed | hold ReplacedRecently: an hour, doubling to a day |
 * | valid | id | 404, confirmed and witnessed | create Missing, or report Missing |
 * | valid | id that an operator reported gone | 404 | create RecreateApproved |
 * | invalid now, valid before | any | any | hold InvalidManifest, keep observing |
 * | not found, unconfirmed | any | any | hold ManifestVanishing |
 * | suspended | any | any | hold Suspended |
 * | absent | id or intent | any | report Orphaned |
 * | valid, ensure: absent | none | – | observe Absent |
 * | valid, ensure: absent | id | any | see `decide-deletion.ts` |
 * | QueryEndpoint, never applied or edited | – | – | upsert New, Edited |
 * | QueryEndpoint, applied | last reply | older than its interval | upsert Resync |
 * | QueryEndpoint, applied | last reply differs | younger than its interval | report Stalled |
 * | Alert, watched | – | equal / differs | observe / report Drifted |
 * | Alert, watched | another id, or intent without outcome | any | report LeftBehind |
 * | Service | – | not asked / answered / refused / no reply | observe Unanswered / observe InUse / refuse AuthFailed / refuse Unavailable |
 */
export function decide(input: DecideInput): Action {
  switch (input.lifecycle) {
    case 'create-once':
      return decideCreateOnce(input)
    case 'upsert':
      return decideUpsert(input)
    case 'read-only':
      return decideReadOnly(input)
    case 'reference':
      return decideReference(input)
  }
}

export function decideReadOnly(input: ReadOnlyInput): Action {
  return firstStop(input, [orphaned, manifestMissing, suspended, invalid, leftBehind]) ?? decideFound(input)
}

/** The manifest now watches another resource. */
function leftBehind(input: ReadOnlyInput): Action | undefined {
  const { desired, recorded, watchedId } = input
  const intent = undecidedIntent(recorded)
  const pipeId = sameId(recorded.remote?.id, watchedId) ? undefined : recorded.remote?.id
  if (pipeId === undefined && intent === undefined) return undefined
  const attempt = intent && attemptFacts(intent)
  const differences = input.observed.status === 'found' ? input.observed.differences : []
  return { type: 'report', reason: 'LeftBehind', differences, facts: { key: desired.key, pipeId, attempt } }
}

function decideFound({ observed }: ReadOnlyInput): Action {
  if (observed.status !== 'found') {
    return { type: 'observe', reason: 'Unobserved', facts: { why: 'not read' } }
  }
  if (observed.differences.length === 0) {
    return { type: 'observe', reason: 'InSync', facts: { as: 'read-only' } }
  }
  return {
    type: 'report',
    reason: 'Drifted',
    differences: observed.differences,
    facts: { fields: observed.differences.map(({ field }) => field), from: 'expectation' },
  }
}

export function decideReference(input: ReferenceInput): Action {
  const stop = firstStop(input, [orphaned, manifestMissing, invalid, secretUnavailable])
  if (stop !== undefined) return stop
  const { contact } = input
  switch (contact?.type) {
    case undefined:
      return { type: 'observe', reason: 'Unanswered', facts: undefined }
    case 'answered':
      return { type: 'observe', reason: 'InUse', facts: undefined }
    case 'refused':
      return { type: 'refuse', reason: 'AuthFailed', facts: { said: contact.said } }
    case 'unreachable':
      return { type: 'refuse', reason: 'Unavailable', facts: { said: contact.said } }
  }
}
