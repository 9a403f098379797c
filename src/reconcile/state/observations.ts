import type { Entry } from '../../contract/catalog.ts'
import { type Difference, maskDifferences } from '../../kinds/difference.ts'
import { compareBody } from '../../kinds/compare-body.ts'
import type { Key } from '../../kinds/key.ts'
import { fieldsOf, knownStatesOf } from '../../kinds/profile.ts'
import { replyMask, shownReply } from '../../kinds/mask.ts'
import { healthyStatesFor, judgeState } from '../../kinds/state.ts'
import { type RemoteResource, returnedBody } from '../../kinds/remote-resource.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Done } from '../../plan/outcome.ts'
import type { ReconcileContext } from '../context.ts'
import type { Reply } from '../../contract/platform.ts'
import type { Observation } from './store.ts'

interface Seen {
  readonly key: Key
  readonly entry: Entry | undefined
  readonly body: JsonObject | undefined
  readonly reply: Reply<RemoteResource>
  /** Start of the read; monotonic ms. Undefined: the reply is to a write. */
  readonly readAt: number | undefined
}

export function noteFound(
  context: ReconcileContext,
  seen: Seen & {
    readonly differences: readonly Difference[]
    readonly foreign?: readonly string[] | undefined
  },
): readonly Difference[] {
  const { profile, store, clock, healthyStates } = context
  const { key, entry, readAt, foreign } = seen
  const { value, credential } = seen.reply
  const state = value.state ?? undefined
  const mask = replyMask(context.mask, seen.body)
  const reply = value as JsonObject // parsed JSON
  const differences = maskDifferences(seen.differences, mask)
  const shownState = state === undefined ? undefined : mask(state)
  const verdict = judgeState(
    state,
    healthyStatesFor(entry?.manifest?.policy?.healthyStates, healthyStates),
    entry?.manifest && knownStatesOf(profile, entry.manifest),
  )
  const settled = verdict === 'healthy' || verdict === 'unjudged'
  store.noteObservation(key, {
    at: clock.now(),
    readAt,
    found: true,
    misses: undefined,
    credential,
    state,
    shownState,
    reply: shownReply(returnedBody(fieldsOf(profile, key), reply), mask),
    foreign,
    unsettled: settled ? 0 : (store.observation(key)?.unsettled ?? 0) + 1,
  })
  context.emit({ type: 'Observed', key, state: shownState, differences })
  return differences
}

export function noteReply(
  context: ReconcileContext,
  seen: Seen & { readonly body: JsonObject },
  done: Done,
): Done {
  const { key, body, reply } = seen
  const compared = compareBody(fieldsOf(context.profile, key), body, reply.value as JsonObject)
  const differences = noteFound(context, { ...seen, differences: compared })
  if (differences.length === 0) return done
  const facts = { fields: differences.map(({ field }) => field), from: 'manifest' } as const
  return { ...done, reason: 'Drifted', facts, differences }
}

export function noteMissing(
  { store, clock }: ReconcileContext,
  key: Key,
  missed: Pick<Observation, 'readAt' | 'misses' | 'credential'>,
): void {
  const nothing = { found: false, state: undefined, shownState: undefined, reply: undefined, unsettled: 0 }
  store.noteObservation(key, { at: clock.now(), ...missed, ...nothing })
}

export function forgetMisses({ store }: ReconcileContext, key: Key): void {
  const observation = store.observation(key)
  if (observation !== undefined) store.noteObservation(key, { ...observation, misses: undefined })
}
