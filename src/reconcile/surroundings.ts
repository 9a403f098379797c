import type { Entry } from '../kinds/catalog.ts'
import { kindOf, parseKey } from '../kinds/key.ts'
import { brakeOf } from '../plan/brake.ts'
import type { Desired, Surroundings } from '../plan/input.ts'
import { isMassMissing } from '../plan/missing.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { DesiredService } from './access.ts'
import type { Deps } from './deps.ts'
import { isUnclaimed, kinOf } from './kin.ts'
import { lookSince } from './looks.ts'
import type { BodySecrets } from './secrets.ts'
import { missingCredentials } from './secrets.ts'
import type { World } from './world.ts'

/** What is known of one key before its surroundings. */
export interface SurroundingsInput {
  readonly entry: Entry | undefined
  readonly recorded: LedgerRecord
  readonly desired: Desired
  readonly service: DesiredService
  readonly secrets: BodySecrets
  readonly now: number
}

/** What else bears on the decision for a key: its service, secrets, neighbours, and the limits of the whole. */
export async function surroundingsOf(deps: Deps, input: SurroundingsInput): Promise<Surroundings> {
  const { world } = deps
  const { entry, recorded, desired, service, secrets, now } = input
  const manifest = entry?.manifest
  const needed = manifest !== undefined && 'policy' in manifest ? (manifest.policy?.dependsOn ?? []) : []
  const credentials = credentialsNeeded(input)
  const missing = credentials === undefined ? [] : await missingCredentials(deps.secrets, credentials)
  return {
    serviceProblem: service.usable ? undefined : service.problem,
    lockedId: world.catalog?.locks.get(desired.key),
    hiddenLocks: world.catalog?.hiddenLocks ?? [],
    kin:
      manifest?.kind === 'Pipe' && recorded.pipe === undefined
        ? kinOf(world, { manifest, desired, service })
        : undefined,
    notReady: needed.flatMap((text) => {
      const needs = parseKey(text)
      if (needs === undefined) return []
      return world.record(needs)?.conditions?.Ready.status === 'True' ? [] : [needs]
    }),
    missingSecrets: [...secrets.missing, ...missing],
    brake: brakeOf({ wanted: world.wantedCreations(now), limit: deps.maxCreates }),
    massMissing: massMissing(deps, recorded, now),
  }
}

/** The mounted secret without which a Service is of no use, a pipe cannot be created and an endpoint not applied. */
function credentialsNeeded({ entry, recorded, service }: SurroundingsInput): string | undefined {
  const manifest = entry?.manifest
  if (manifest?.kind === 'Service') return manifest.spec.credentials.secretRef.name
  const writes =
    manifest?.kind === 'QueryEndpoint' || (manifest?.kind === 'Pipe' && recorded.pipe === undefined)
  return writes && service.usable ? service.access.secretName : undefined
}

/** Counts the pipes of a service of which it is known whether they are there, since this one was first missed. */
function massMissing({ world }: Deps, recorded: LedgerRecord, now: number): Surroundings['massMissing'] {
  const { misses, service } = recorded
  if (misses === undefined || service === undefined) return undefined
  const counts = { missing: 0, of: 0 }
  for (const record of world.records()) {
    if (kindOf(record.key) !== 'Pipe' || record.service?.serviceId !== service.serviceId) continue
    const seen = lookSince(world.look(record.key), { since: misses.firstAt, now })
    const isMissing = seen === undefined ? isStillMissed(world, record) : !seen.found
    if (seen === undefined && !isMissing) continue
    counts.of += 1
    if (isMissing) counts.missing += 1
  }
  return isMassMissing(counts) ? counts : undefined
}

/** The ledger says so, as a process before this one saw it, and it will be looked at again. */
function isStillMissed(world: World, { key, misses }: LedgerRecord): boolean {
  return misses !== undefined && !isUnclaimed(world.desiredState(key))
}
