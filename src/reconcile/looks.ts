import type { Entry } from '../kinds/catalog.ts'
import { kindOf, type Key } from '../kinds/key.ts'
import type { JsonObject } from '../lib/json.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Deps } from './deps.ts'
import { keepReply } from './kept-reply.ts'
import type { Look } from './world.ts'

/** Remembers what the platform said of a key. */
export function noteFound(
  { world, clock }: Deps,
  key: Key,
  seen: {
    readonly state: string | undefined
    readonly reply: object
    readonly entry: Entry | undefined
    /** What was asked for, or expected of an alert. */
    readonly desired: JsonObject
    readonly record: LedgerRecord
  },
): void {
  const { entry, desired, record } = seen
  const healthy = healthyStatesOf(entry)
  const settled = healthy === undefined || (seen.state !== undefined && healthy.includes(seen.state))
  world.noteLook(key, {
    at: clock.now(),
    found: true,
    state: seen.state,
    // A parsed reply is JSON.
    reply: keepReply(kindOf(key), seen.reply as JsonObject, {
      manifest: entry?.manifest,
      desired,
      id: record.pipe?.id,
      serviceId: record.service?.serviceId,
    }),
    unsettled: settled ? 0 : (world.look(key)?.unsettled ?? 0) + 1,
  })
}

/** Remembers that the platform knows nothing of a key. */
export function noteMissing({ world, clock }: Deps, key: Key): void {
  world.noteLook(key, { at: clock.now(), found: false, state: undefined, reply: undefined, unsettled: 0 })
}

/** A look from a time on; one "from the future", which a clock that was set back leaves behind, says nothing. */
export function lookSince(
  look: Look | undefined,
  { since, now }: { readonly since: number; readonly now: number },
): Look | undefined {
  return look !== undefined && look.at >= since && look.at <= now ? look : undefined
}

function healthyStatesOf(entry: Entry | undefined): readonly string[] | undefined {
  const manifest = entry?.manifest
  if (manifest === undefined || !('policy' in manifest)) return undefined
  const { policy } = manifest
  return policy !== undefined && 'healthyStates' in policy ? policy.healthyStates : undefined
}
