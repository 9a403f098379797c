import { z } from '../kinds/zod.ts'
import { parseKey, type Key } from '../kinds/key.ts'
import { CONDITION_TYPES } from '../plan/condition.ts'
import { STATUSES } from '../plan/status.ts'
import { parseReason, type Reason } from '../plan/reason.ts'
import { SEVERITIES } from '../plan/severity.ts'

/** Also by a name of before. */
const KnownReason = z
  .custom<Reason>((text) => parseReason(text) !== undefined)
  .transform((text) => parseReason(text) ?? text)

/** A trouble that a target was told of and that was not over when it last was. */
export const Told = z.strictObject({
  /** As in `standing.ts`. */
  state: z.string(),
  status: z.enum(STATUSES),
  condition: z.enum(CONDITION_TYPES),
  reason: KnownReason,
  severity: z.enum(SEVERITIES),
})
export type Told = Readonly<z.infer<typeof Told>>

/** What one target was told of; all else that it is told of is well. Never a secret: no message, no address. */
export interface ToldTarget {
  readonly told: ReadonlyMap<Key, Told>
  /** Pipes that were created until then are told of: ms since the epoch. */
  readonly createdUntil: number
}

const Document = z.strictObject({
  version: z.literal(1),
  targets: z.record(
    z.string(),
    z.strictObject({ createdUntil: z.number(), told: z.record(z.string(), Told) }),
  ),
})

/** @returns `undefined` when the text is not what {@link writeTold} wrote */
export function readTold(text: string): ReadonlyMap<string, ToldTarget> | undefined {
  const { data } = Document.safeParse(jsonOf(text))
  if (data === undefined) return undefined
  return new Map(
    Object.entries(data.targets).map(([target, { createdUntil, told }]) => [
      target,
      { createdUntil, told: new Map(Object.entries(told).flatMap(([name, one]) => pairOf(name, one))) },
    ]),
  )
}

export function writeTold(targets: ReadonlyMap<string, ToldTarget>): string {
  const entries = [...targets].map(([name, { createdUntil, told }]) => [
    name,
    { createdUntil, told: Object.fromEntries([...told].toSorted(([a], [b]) => (a < b ? -1 : 1))) },
  ])
  return `${JSON.stringify({ version: 1, targets: Object.fromEntries(entries) })}\n`
}

function pairOf(text: string, told: Told): readonly (readonly [Key, Told])[] {
  const key = parseKey(text)
  return key === undefined ? [] : [[key, told]]
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
