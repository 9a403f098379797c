import { remoteNameOf } from '../../kinds/lookup.ts'
import { parseKey, type Key } from '../../kinds/key.ts'
import type { ResourceManifest } from '../../kinds/manifest.ts'
import { leftSomething } from '../../plan/gates.ts'
import type { Desired, Similar } from '../../plan/input.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { type Candidate, findSimilar } from '../../plan/rename-detection.ts'
import type { DesiredService } from './service-access.ts'
import type { StateStore } from '../state/store.ts'

/** What has a valid manifest and nothing on the platform that we know of. */
export interface Uncreated {
  readonly manifest: ResourceManifest
  readonly desired: Desired
  readonly service: DesiredService
}

/**
 * The record of another key that this may belong to, so that creating it would be once too often.
 * @param recorded its own: with something that is not found, no other record can move here
 */
export function similarTo(store: StateStore, wanted: Uncreated, recorded: LedgerRecord): Similar | undefined {
  const named = recorded.remote === undefined ? wanted.manifest.policy?.renamedFrom : undefined
  const from = named === undefined ? undefined : parseKey(named)
  const record = from === undefined ? undefined : store.record(from)
  if (record !== undefined && leftSomething(record)) {
    const rival = rivalOf(store, wanted.desired.key, store.successors(record.key))
    return { key: record.key, how: 'renamed-from', file: record.file, rival }
  }
  const candidate = candidateOf(wanted)
  if (candidate === undefined) return undefined
  const related = notReplaced(store.similarTo(candidate), wanted)
  const unclaimed = related.filter(({ key }) => isUnclaimed(store.desiredState(key)))
  const gone = findSimilar(candidate, unclaimed)?.from
  if (gone !== undefined) {
    const platformName = gone.platformName === candidate.platformName ? undefined : gone.platformName
    return { key: gone.key, how: 'unclaimed', file: gone.file, platformName }
  }
  // It asks for what it had: what is like it, and has a manifest, came later, or was meant to be beside it.
  if (recorded.remote !== undefined && recorded.applied?.digest === candidate.fingerprint.digest)
    return undefined
  const sameName = findSimilar(candidate, related)?.from
  return sameName && { key: sameName.key, how: 'claimed', file: sameName.file }
}

/** Another manifest that claims the same record: nobody can tell whose it is. */
export function rivalOf(store: StateStore, key: Key, claiming: readonly Key[]): Key | undefined {
  return claiming.find((other) => {
    if (other === key || store.entry(other)?.state !== 'valid') return false
    const record = store.record(other)
    return record === undefined || !leftSomething(record)
  })
}

/** The only record that is gone for good and had the same service and body, where no other manifest asks for the same. */
export function sameButGone(store: StateStore, wanted: Uncreated): LedgerRecord | undefined {
  const candidate = candidateOf(wanted)
  if (candidate === undefined) return undefined
  const related = notReplaced(store.similarTo(candidate), wanted)
  const gone = related.filter(({ key }) => store.desiredState(key) === 'absent')
  const similarity = findSimilar(candidate, gone)
  if (similarity?.certainty !== 'same') return undefined
  return rivalOf(store, candidate.key, store.alike(candidate)) === undefined ? similarity.from : undefined
}

/** Without the one that `policy.replaces` names: a person says that this is not that one. It speaks of no other one. */
function notReplaced(related: readonly LedgerRecord[], { manifest }: Uncreated): readonly LedgerRecord[] {
  return related.filter(({ key }) => key !== manifest.policy?.replaces)
}

/** A record whose manifest is gone, or seems to be. */
export function isUnclaimed(state: Desired['state']): boolean {
  return state === 'absent' || state === 'missing'
}

function candidateOf({ manifest, desired, service }: Uncreated): Candidate | undefined {
  if (desired.fingerprint === undefined || !service.usable) return undefined
  return {
    key: desired.key,
    serviceId: service.identity.serviceId,
    platformName: remoteNameOf(manifest),
    fingerprint: desired.fingerprint,
  }
}
