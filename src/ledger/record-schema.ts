import { z } from '../kinds/zod.ts'
import { parseKey, type Key } from '../kinds/key.ts'
import { ACTION_TYPES } from '../plan/action.ts'
import { CONDITION_TYPES, type Condition as RecordedCondition, type Conditions } from '../plan/condition.ts'
import { parseFacts, parseReason, type Reason } from '../plan/reason.ts'
import { shared, sharedText } from '../lib/shared.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { HistoryEntry } from '../reconcile/history.ts'

/*
 * What is read from a ledger is checked: a file can be damaged, edited by hand or of another version.
 * JSON has no `undefined`, but our fields are `T | undefined` and always there: `known` brings them back.
 */

function known<T extends z.ZodType>(schema: T) {
  return schema
    .nullable()
    .default(null)
    .transform((value) => value ?? undefined)
}

const LedgerKey = z.custom<Key>((value) => typeof value === 'string' && parseKey(value) !== undefined)

const Time = z.number()

/** Also by a name of before. */
const KnownReason = z
  .custom<Reason>((value) => parseReason(value) !== undefined)
  .transform((reason) => parseReason(reason) ?? reason)

/** In the history, a reason that another version knew is still worth showing. */
const AnyReason = z
  .custom<Reason>((value) => typeof value === 'string')
  .transform((reason) => parseReason(reason) ?? reason)

const ConditionStatus = z.enum(['True', 'False', 'Unknown'])

const Condition = z
  .strictObject({
    status: ConditionStatus,
    reason: KnownReason,
    message: z.string().transform(shared),
    since: Time,
    facts: z.unknown().optional(),
  })
  .transform(({ facts, ...condition }): RecordedCondition => {
    const own = parseFacts(condition.reason, facts)
    return own === undefined ? condition : { ...condition, facts: own }
  })

/** Conditions are worked out anew at each reconcile: those that another version wrote may be left out. */
const RecordedConditions: z.ZodType<Conditions | undefined> = known(
  z.strictObject({ Valid: Condition, Synced: Condition, Ready: Condition }),
).catch(undefined)

const Seen = z.strictObject({
  at: Time,
  httpStatus: known(z.number()),
  requestId: known(z.string()),
  what: z.string(),
  pipeId: known(z.string()),
})

const Intent = z.strictObject({
  id: z.string(),
  attempt: z.int().min(1),
  reason: AnyReason,
  requestDigest: z.string(),
  revision: z.string(),
  openedAt: Time,
  sendBy: Time,
  endBy: Time,
  state: z.enum(['open', 'failed', 'unknown', 'dismissed', 'succeeded']),
  seen: known(Seen),
  saidEarlyAt: known(Time),
})

const Upsert = z.strictObject({
  at: Time,
  revision: z.string(),
  requestId: known(z.string()),
  reply: z.strictObject({
    id: z.string(),
    roles: z.array(z.string()).readonly(),
    openApiKeys: z.array(z.string()).readonly(),
    allowedOrigins: z.string(),
  }),
})

/** Passed on as it was read: a copy of such an object, made member by member, takes many times its room. */
const Hashes = z
  .custom<Record<string, string>>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every((hash) => typeof hash === 'string'),
  )
  .transform((hashes): Readonly<Record<string, string>> => {
    // Many pipes say the same of a field.
    for (const [name, hash] of Object.entries(hashes)) hashes[name] = sharedText(hash)
    return hashes
  })

const Fingerprint = z.strictObject({ digest: z.string(), fields: Hashes, secrets: Hashes.transform(shared) })

const Service = z.strictObject({ name: z.string(), organizationId: z.string(), serviceId: z.string() })

const Pipe = z.strictObject({
  id: z.string().min(1),
  origin: z.enum(['created', 'adopted']),
  at: Time,
  revision: z.string(),
  requestId: known(z.string()),
  seenAt: known(Time),
  saidGoneAt: known(Time),
  refutedAt: known(Time),
})

/** A record as the ledger keeps it; the same as {@link LedgerRecord}, see below. */
export const RecordSchema = z.strictObject({
  key: LedgerKey,
  version: z.int().min(1),
  file: known(z.string()),
  line: known(z.number()),
  service: known(Service).transform(shared),
  platformName: known(z.string()),
  pipe: known(Pipe),
  former: known(
    z.strictObject({
      pipe: Pipe,
      service: known(Service),
      platformName: known(z.string()),
      applied: known(Fingerprint),
    }),
  ),
  replaced: known(z.strictObject({ count: z.int().min(1), at: Time, id: z.string().optional() })),
  intent: known(Intent),
  upsert: known(Upsert),
  applied: known(Fingerprint),
  backoff: known(z.strictObject({ failures: z.int(), until: Time, digest: z.string() })),
  conditions: RecordedConditions,
})

const common = {
  key: LedgerKey,
  at: Time,
  revision: z.string(),
  requestId: known(z.string()),
  message: z.string(),
}

/** A line of the history as the ledger keeps it; the same as {@link HistoryEntry}. */
export const HistorySchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...common,
    type: z.literal('action'),
    action: z.enum([...ACTION_TYPES, 'intent', 'move', 'forget']),
    reason: AnyReason,
    result: z.enum(['started', 'done', 'failed', 'unknown']),
    intentId: known(z.string()),
  }),
  z.strictObject({
    ...common,
    type: z.literal('condition'),
    condition: z.enum(CONDITION_TYPES),
    status: ConditionStatus,
    reason: AnyReason,
  }),
])

/** Fails to compile unless both types take each other's values: the schemas above cannot lag behind in silence. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never

true satisfies Same<z.output<typeof RecordSchema>, LedgerRecord>
true satisfies Same<z.output<typeof HistorySchema>, HistoryEntry>
