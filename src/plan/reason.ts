import type { Key } from '../kinds/key.ts'
import { nounOf } from '../kinds/lookup.ts'
import type { z } from '../kinds/zod.ts'
import { CHANGING, APPLYING } from './reasons/changing.ts'
import { CREATING } from './reasons/creating.ts'
import { OBSERVING, STATE } from './reasons/observing.ts'
import { MANIFESTS } from './reasons/manifests.ts'
import { MISSED } from './reasons/not-found.ts'
import { REFUSING } from './reasons/refusing.ts'
import { REQUESTS } from './reasons/requests.ts'
import { sentence, type InnerReason, type Row } from './reasons/row.ts'
import { proseOf, type About, type StepContext, type Step } from './step.ts'

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

export type FactsOf<R extends Reason> = z.output<(typeof REASONS)[R]['facts']>

export type Because<R extends Reason = Reason> = {
  readonly [K in R]: { readonly reason: K; readonly facts: FactsOf<K> }
}[R]

export interface Explanation {
  readonly reason: Reason
  readonly facts?: FactsOf<Reason>
}

function rowOf(reason: Reason): Row<z.ZodType<FactsOf<Reason>>> {
  return REASONS[reason]
}

export function causeOf({ reason, facts }: Explanation, key: Key): string {
  const row = rowOf(reason)
  if (facts === undefined && !row.facts.isOptional()) return sentence(row.means)
  return row.words(shortFacts(facts), nounOf(key), (inner) => innerCause(inner, key))
}

export function innerCause(inner: InnerReason, key: Key): string {
  const explanation = innerExplanation(inner)
  return explanation === undefined ? sentence(inner.reason) : causeOf(explanation, key)
}

function innerExplanation({ reason, facts }: InnerReason): Explanation | undefined {
  const known = parseReason(reason)
  return known && { reason: known, facts: parseFacts(known, facts) }
}

export function stepsOf({ reason, facts }: Explanation, about: About): readonly Step[] {
  const innerSteps = (inner: InnerReason) => {
    const explanation = innerExplanation(inner)
    return explanation === undefined ? [] : stepsOf(explanation, about)
  }
  return rowOf(reason).steps?.(shortFacts(facts), about, innerSteps) ?? []
}

export function messageOf(explanation: Explanation, about: About, context?: StepContext): string {
  return `${causeOf(explanation, about.key)} ${proseOf(stepsOf(explanation, about), context)}`.trimEnd()
}

export function explained({ reason, facts }: Explanation): Explanation {
  return facts === undefined ? { reason } : { reason, facts: shortFacts(facts) }
}

const MAX_LISTED = 10
const MAX_LISTED_LENGTH = 300
const MAX_LENGTH = 4_000

export function shortFacts<T>(facts: T): T {
  return shortened(facts, MAX_LENGTH) as T // only texts are shorter
}

function shortened(value: unknown, length: number): unknown {
  if (typeof value === 'string') return value.length > length ? `${value.slice(0, length - 1)}…` : value
  if (Array.isArray(value)) {
    const items = value.map((item) => shortened(item, MAX_LISTED_LENGTH))
    if (items.length <= MAX_LISTED || items.some((item) => typeof item !== 'string')) return items
    return [...items.slice(0, MAX_LISTED - 1), `and ${items.length - MAX_LISTED + 1} more`]
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(members.map(([name, inner]) => [name, shortened(inner, length)]))
}

/** Names of the reasons in older ledgers. */
const FORMER: Readonly<Partial<Record<Reason, readonly string[]>>> = {
  Adopt: ['FoundByList'],
  Adopted: ['Moved'],
  Ambiguous: ['NameTaken', 'RenameSuspected', 'RenameWaiting'],
  Applied: ['Changed'],
  Changing: ['Edited', 'Resync', 'StateChanging'],
  CreateLimit: ['CreateBrake'],
  Created: ['FoundByRead'],
  DependencyNotReady: ['LockUnreadable', 'ServiceInvalid'],
  Drifted: ['Contested'],
  InSync: ['Accepted', 'InUse'],
  Missing: ['ReplacedRecently'],
  New: ['RecreateApproved', 'RetryApproved', 'RetryFailed'],
  Orphaned: ['LeftBehind'],
  SecretUnavailable: ['TooManyOpenFiles'],
  Unobserved: ['Unanswered'],
}
const PRESENT = new Map(
  Object.entries(FORMER).flatMap(([reason, names]) => names.map((name) => [name, reason as Reason])), // a key of FORMER
)

export function parseReason(text: unknown): Reason | undefined {
  if (typeof text !== 'string') return undefined
  return PRESENT.get(text) ?? (Object.hasOwn(REASONS, text) ? (text as Reason) : undefined)
}

export function parseFacts(reason: Reason, facts: unknown): FactsOf<Reason> {
  if (facts === undefined) return undefined
  const reading = rowOf(reason).facts.safeParse(facts)
  return reading.success ? reading.data : undefined
}
