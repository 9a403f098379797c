import { platformNameOf } from '../kinds/manifest.ts'
import { parseKey } from '../kinds/key.ts'
import type { PipeManifest } from '../kinds/pipe/schema.ts'
import { leftSomething } from '../plan/gates.ts'
import type { Desired, Kin } from '../plan/input.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Newcomer } from '../plan/rename.ts'
import { findKinship } from '../plan/rename.ts'
import type { DesiredService } from './access.ts'
import type { World } from './world.ts'

/** A pipe that has a valid manifest and nothing on the platform that we know of. */
export interface NewPipe {
  readonly manifest: PipeManifest
  readonly desired: Desired
  readonly service: DesiredService
}

/**
 * The record of another key that this pipe may belong to, so that creating it would be once too often.
 * @param recorded its own: with a pipe that is not found, no other record can move here
 */
export function kinOf(world: World, pipe: NewPipe, recorded: LedgerRecord): Kin | undefined {
  const named = recorded.pipe === undefined ? pipe.manifest.policy?.renamedFrom : undefined
  const from = named === undefined ? undefined : parseKey(named)
  const record = from === undefined ? undefined : world.record(from)
  if (record !== undefined && leftSomething(record)) {
    return { key: record.key, how: 'renamed-from', file: record.file }
  }
  const newcomer = newcomerOf(pipe)
  if (newcomer === undefined) return undefined
  const related = notReplaced(world.kinOf(newcomer), pipe)
  const unclaimed = related.filter(({ key }) => isUnclaimed(world.desiredState(key)))
  const gone = findKinship(newcomer, unclaimed)?.from
  if (gone !== undefined) return { key: gone.key, how: 'gone', file: gone.file }
  const namesake = findKinship(newcomer, related)?.from
  return namesake && { key: namesake.key, how: 'namesake', file: namesake.file }
}

/** The only record that is gone for good and had the same service and body. */
export function sameButGone(world: World, pipe: NewPipe): LedgerRecord | undefined {
  const newcomer = newcomerOf(pipe)
  if (newcomer === undefined) return undefined
  const related = notReplaced(world.kinOf(newcomer), pipe)
  const gone = related.filter(({ key }) => world.desiredState(key) === 'absent')
  const kinship = findKinship(newcomer, gone)
  return kinship?.certainty === 'same' ? kinship.from : undefined
}

/** Without the one that `policy.replaces` names: a person says that this is not that pipe. It speaks of no other one. */
function notReplaced(related: readonly LedgerRecord[], { manifest }: NewPipe): readonly LedgerRecord[] {
  return related.filter(({ key }) => key !== manifest.policy?.replaces)
}

/** A record whose manifest is gone, or seems to be. */
export function isUnclaimed(state: Desired['state']): boolean {
  return state === 'absent' || state === 'vanishing'
}

function newcomerOf({ manifest, desired, service }: NewPipe): Newcomer | undefined {
  if (desired.fingerprint === undefined || !service.usable) return undefined
  return {
    key: desired.key,
    serviceId: service.identity.serviceId,
    platformName: platformNameOf(manifest),
    fingerprint: desired.fingerprint,
  }
}
