import type { Action } from './action.ts'
import { decideUpsert } from './decide-upsert.ts'
import { decideCreateOnce } from './decide-create-once.ts'
import type { DecideInput, ReadOnlyInput, ReferenceInput } from './input.ts'
import { attemptFacts, undecidedIntent } from './outcome-unknown.ts'
import { sameId } from '../lib/same-id.ts'
import { firstStop, invalid, orphaned, suspended, manifestMissing, secretUnavailable } from './gates.ts'

/**
 * What should happen next to one key: one action with a reason. Pure; the table is design §4, and each row of it
 * is a row of `test/plan/decide.test.ts`.
 *
 * | desired | recorded | observed | action, reason |
 * |---|---|---|---|
 * | valid, new | – | – | create New · adopt · refuse RenameSuspected, NameTaken, RenameWaiting, CreateLimit, DependencyNotReady, SecretUnavailable |
 * | valid, new | – | a file that may hold a Lock cannot be read | refuse LockUnreadable, unless policy.adopt or a Lock names an id |
 * | valid | intent without outcome | – | refuse OutcomeUnknown, until a person resolves it |
 * | valid | intent without outcome, whose reply held an id | – | adopt FoundByRead, if a reading finds it to be the new pipe |
 * | valid | intent without outcome | exactly one pipe of that name in the list, created since, which no record holds, and nothing differs | adopt FoundByList |
 * | valid, new | – | the same in the list before the create | adopt FoundByList |
 * | valid, new, or an intent without outcome | – | several in the list, or one that differs | refuse Ambiguous |
 * | valid, new | – | recorded pipes are not in the list, or it is empty beside them | refuse MassMissing |
 * | valid | intent that a person dismissed | – | create RetryApproved |
 * | valid | intent that failed, effect none | – | create RetryFailed, after its back-off (hold BackingOff) |
 * | valid | id | equal | observe InSync |
 * | valid, unchanged since created | id | differs | report Drifted |
 * | valid, edited since created | id | any | report NotUpdatable |
 * | valid, edited to what is there | id | equal, and every edited field is one the platform returns | observe Accepted |
 * | valid, a secret's value changed | id | any | report SecretRotated |
 * | valid, a secret without a recorded value | id | equal | report SecretRotated, or SecretUnavailable if it is not mounted |
 * | valid | id | 404, and so are 30 % (at least 3) of the pipes of its service, or of its credential | refuse MassMissing |
 * | valid | id that a GET never found | 404, confirmed | hold NeverSeen |
 * | valid | id | 404, not confirmed or not witnessed | hold MissingUnconfirmed |
 * | valid | id, replaced before | 404, confirmed and witnessed | hold ReplacedRecently, for an hour, doubling up to a day |
 * | valid | id | 404, confirmed and witnessed | create Missing, or report Missing |
 * | valid | id that a person said is gone | 404 | create RecreateApproved |
 * | invalid now, valid before | any | any | hold InvalidManifest: keep observing |
 * | not found, not believed yet | any | any | hold ManifestVanishing |
 * | suspended | any | any | hold Suspended |
 * | absent | id or intent | any | report Orphaned |
 * | valid, ensure: absent | none | – | observe Absent |
 * | valid, ensure: absent | id | any | the table of `decide-deletion.ts` |
 * | QueryEndpoint, never applied or edited | – | – | upsert New, Edited |
 * | QueryEndpoint, applied | reply of the last upsert | older than its interval | upsert Resync |
 * | QueryEndpoint, applied | reply differs | younger than its interval | report Stalled |
 * | Alert, watched | – | equal / differs | observe / report Drifted |
 * | Alert, watched | id of another one, or intent without outcome | any | report LeftBehind |
 * | Service | – | nothing asked yet / answered / refused / no reply | observe Unanswered / observe InUse / refuse AuthFailed / refuse Unavailable |
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

/** What is only watched is looked at and never changed. */
export function decideReadOnly(input: ReadOnlyInput): Action {
  return firstStop(input, [orphaned, manifestMissing, suspended, invalid, leftBehind]) ?? decideFound(input)
}

/** Its manifest asked for one to be created before, and watches another one by now: neither is lost. */
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

/** A service is never created: what can be wrong with it is its manifest, its credentials, and the way there. */
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
