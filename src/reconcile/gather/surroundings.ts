import type { Entry } from '../../contract/catalog.ts'
import { parseKey, type Key } from '../../kinds/key.ts'
import { isCreateOnce, isReference } from '../../kinds/lookup.ts'
import { serviceKey } from '../../kinds/service/kind.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import type { Desired, Observed, Surroundings } from '../../plan/input.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { Reason } from '../../plan/reason.ts'
import type { MissingSecret } from '../../plan/reasons/missing-secret.ts'
import type { LedgerRecord, ServiceIdentity } from '../../plan/record.ts'
import type { DesiredService } from './service-access.ts'
import type { ReconcileContext } from '../context.ts'
import { createLimitFor } from './creations-of-service.ts'
import { listedFor } from './listing.ts'
import type { Listing } from '../state/listings.ts'
import { mayBeReplaced } from './deletion-facts.ts'
import { similarTo } from './similar-records.ts'
import { massMissing } from './siblings.ts'
import type { StateStore } from '../state/store.ts'

/** What is known of one key before its surroundings. */
interface SurroundingsInput {
  readonly entry: Entry | undefined
  readonly recorded: LedgerRecord
  readonly desired: Desired
  readonly observed: Observed
  readonly service: DesiredService
  /** Files that were looked for in vain. */
  readonly missingSecrets: readonly MissingSecret[]
  readonly missingAt: ReadonlyMap<string, MissingSecret>
  readonly body: JsonObject | undefined
  readonly listing: Listing | undefined
}

/** What else bears on the decision for a key: its service, secrets, neighbours, and the limits of the whole. */
export function surroundingsOf(
  context: Pick<ReconcileContext, 'profile' | 'store' | 'clock' | 'maxCreates'>,
  input: SurroundingsInput,
): Surroundings {
  const { store } = context
  const { entry, recorded, desired, observed, service } = input
  const manifest = entry?.manifest
  return {
    ...standing(store, { key: desired.key, entry, service }),
    lockedId: store.catalog?.locks.get(desired.key),
    hiddenLocks: store.catalog?.hiddenLocks ?? [],
    similar:
      manifest !== undefined &&
      isCreateOnce(manifest) &&
      (recorded.remote === undefined ||
        observed.status === 'missing' ||
        mayBeReplaced(store, entry, recorded))
        ? similarTo(
            context,
            { manifest, desired, service, body: input.body, listing: input.listing },
            recorded,
          )
        : undefined,
    missingSecrets: input.missingSecrets,
    missingAt: input.missingAt,
    // Counted only for a key that nothing else stops.
    get createLimit() {
      if (!service.usable) return undefined
      const { key } = desired
      return createLimitFor(context, { key, recorded, service: service.identity, digest: entry?.digest })
    },
    massMissing: observed.status === 'missing' ? massMissing(context, recorded, observed.misses) : undefined,
    knownIds: knownIds(store, recorded),
    listed: listedFor(context, input),
  }
}

/** What may come up at any moment, whatever a manifest says: with its service, with what it depends on, with the readings. */
export function standing(
  store: StateStore,
  {
    key,
    entry,
    service,
  }: { readonly key: Key; readonly entry: Entry | undefined; readonly service: DesiredService },
): Pick<Surroundings, 'serviceProblem' | 'unfound' | 'isDoubted' | 'olderThan' | 'notReady'> {
  const needed = entry?.manifest?.policy?.dependsOn ?? []
  return {
    serviceProblem: service.usable ? problemOfService(store, service.identity) : service.problem,
    unfound: isUnfound(store, key),
    isDoubted: store.catalog?.problem !== undefined,
    olderThan: store.olderThan,
    notReady: needed.flatMap((text) => {
      const needs = parseKey(text)
      if (needs === undefined) return []
      return isReady(store, needs) ? [] : [needs]
    }),
  }
}

/** Whether the last reading, which is not believed, did not find a manifest: it is not there, for all that anybody knows. */
function isUnfound({ catalog }: StateStore, key: Key): boolean {
  const unfound = catalog?.problem?.unfound
  return unfound === 'all' || unfound?.has(key) === true
}

/** As this process has found out: what the ledger remembers may be a night old. */
function isReady(store: StateStore, key: Key): boolean {
  const ready = store.record(key)?.conditions?.Ready
  if (!store.judged.has(key) || ready === undefined) return false
  return ready.status === 'True' || (isReference(key) && FOUND_OUT_BY_ASKING.has(ready.reason))
}

/** What a service says when it is asked, and only then: whoever waited for that might be the only one to ask. */
const FOUND_OUT_BY_ASKING: ReadonlySet<Reason> = new Set(['Unanswered', 'Unavailable', 'AuthFailed'])

/** Why nothing is written to a service that is known: what its manifest says now is not. */
function problemOfService(store: StateStore, { name }: ServiceIdentity): string | undefined {
  const key = serviceKey(name)
  const entry = store.entry(key)
  if (entry === undefined || entry.state === 'valid') return undefined
  return entry.state === 'missing'
    ? `The manifest of ${key} was not found; nothing is created or applied there until it is.`
    : `The manifest of ${key} has errors; nothing is created or applied there until they are corrected.`
}

/** What other keys of the kind have under the same name in the same service: not what a create of unknown outcome may have made. */
export function knownIds(store: StateStore, recorded: LedgerRecord): readonly string[] {
  const { key, service, platformName } = recorded
  if (service === undefined || undecidedIntent(recorded) === undefined) return []
  const ids: string[] = []
  for (const other of store.createdIn(service.serviceId, key)) {
    const record = other === key ? undefined : store.record(other)
    if (record?.remote === undefined || record.platformName !== platformName) continue
    if (sameId(record.service?.serviceId, service.serviceId)) ids.push(record.remote.id)
  }
  return ids
}
