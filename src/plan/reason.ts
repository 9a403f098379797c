import type { Key } from '../kinds/key.ts'
import { nounOf } from '../kinds/lookup.ts'
import type { z } from '../kinds/zod.ts'
import { CHANGING } from './reasons/changing.ts'
import { CREATING } from './reasons/creating.ts'
import { APPLYING } from './reasons/applying.ts'
import { OBSERVING, STATE } from './reasons/observing.ts'
import { MANIFESTS } from './reasons/manifests.ts'
import { MISSED } from './reasons/not-found.ts'
import { REFUSING } from './reasons/refusing.ts'
import { REQUESTS } from './reasons/requests.ts'
import { joined, type About, type Row, type Step, type Words } from './reasons/row.ts'
import { isWell } from './severity.ts'

/**
 * Every reason that an action or a condition can have, one row each: there is no other list. They are part of the interface:
 * `docs/runbook.md` has an entry for each.
 */
export const REASONS = {
  ...CREATING,
  ...REFUSING,
  ...OBSERVING,
  ...MISSED,
  ...STATE,
  ...APPLYING,
  ...CHANGING,
  ...MANIFESTS,
  ...REQUESTS,
} as const

export type Reason = keyof typeof REASONS

/** What is known beside a reason. */
export type FactsOf<R extends Reason> = z.output<(typeof REASONS)[R]['facts']>

export type Facts = FactsOf<Reason>

/** A reason with its facts: why something is done, or is as it is. */
export type Because<R extends Reason = Reason> = {
  readonly [K in R]: { readonly reason: K; readonly facts: FactsOf<K> }
}[R]

/** A reason and the facts that belong to it; those of an older record may be absent. */
interface Recorded {
  readonly reason: Reason
  readonly facts: Facts
}

/** Who tells a reason tells the facts of its row: see Because. */
function rowOf(reason: Reason): Row<z.ZodType<Facts>> {
  return REASONS[reason]
}

/** What happened to the resource of a key and why, and what to do about it. */
export function wordsOf({ reason, facts }: Recorded, key: Key): Words {
  return rowOf(reason).words(facts, nounOf(key))
}

/** The same as one text: the last thing that happens to facts. */
export function messageOf(because: Recorded, key: Key): string {
  return joined(wordsOf(because, key))
}

/** What a person does about it; empty when there is nothing to do. */
export function stepsOf({ reason, facts }: Recorded, about: About): readonly Step[] {
  return rowOf(reason).steps?.(facts, about) ?? []
}

/** Whether the facts are kept with a condition: nothing is to be done about what is well, but another state is news. */
export function isKept(reason: Reason): boolean {
  return !isWell(REASONS[reason]) || reason === 'NotJudged'
}

/** Names of before, which ledgers and addresses may still hold. */
const FORMER: ReadonlyMap<string, Reason> = new Map([
  ['CreateBrake', 'CreateLimit'],
  ['Changed', 'Applied'],
])

/** The reason that a text names, also by a former name. */
export function parseReason(text: unknown): Reason | undefined {
  if (typeof text !== 'string') return undefined
  return FORMER.get(text) ?? (Object.hasOwn(REASONS, text) ? (text as Reason) : undefined)
}

/** What was kept with a reason, if it is what its row says. */
export function parseFacts(reason: Reason, facts: unknown): Facts {
  if (facts === undefined) return undefined
  const reading = rowOf(reason).facts.safeParse(facts)
  return reading.success ? reading.data : undefined
}
