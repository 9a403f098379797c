import type { ServiceProblem } from '../../plan/reasons/refusing.ts'
import { parseKey, type Key } from '../../kinds/key.ts'
import { isCreateOnce, isReference } from '../../kinds/lookup.ts'
import { serviceKey } from '../../kinds/service/kind.ts'
import type { Observed, Surroundings } from '../../plan/input.ts'
import { isUnanswered } from '../../plan/conditions.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { Reason } from '../../plan/reason.ts'
import type { LedgerRecord, ServiceIdentity } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import { listedFor, type ListedInput } from './listing.ts'
import { mayBeReplaced } from './deletion-facts.ts'
import { claimOn, similarTo } from './similar-records.ts'
import { countMassMissing } from './siblings.ts'
import type { StateStore } from '../state/store.ts'

/** Findings about two manifests, of which one is not used. */
const CONTRADICTIONS: ReadonlySet<string> = new Set(['duplicate-key', 'pipe-claimed-twice', 'lock-conflict'])

export function surroundingsOf(
  context: ReconcileContext,
  input: ListedInput & Pick<Surroundings, 'missingSecrets' | 'missingAt'> & { readonly observed: Observed },
): Surroundings {
  const { store } = context
  const { entry, recorded, desired, observed, service } = input
  const { key, fingerprint } = desired
  const manifest = entry?.manifest
  const record = store.record(key)
  const id = (recorded.remote ?? recorded.former?.remote)?.id
  return {
    serviceProblem: service.usable ? problemOfService(store, service.identity) : service.problem,
    claim: record && claimOn(store, record, fingerprint),
    holder: id === undefined ? undefined : store.holderOf(id, key),
    unfound: isUnfound(store, key),
    isDoubted: store.catalog?.problem !== undefined,
    isPartlyRead: [store.catalog?.hiddenLocks, store.catalog?.unread].some((paths = []) => paths.length > 0),
    hasTwins: store.catalog?.findings.some(({ code }) => CONTRADICTIONS.has(code)) === true,
    olderThan: store.olderThan,
    notReady: (manifest?.policy?.dependsOn ?? []).flatMap((text) => {
      const needs = parseKey(text)
      return needs === undefined || isReady(store, needs) ? [] : [needs]
    }),
    lockedId: store.lockedId(key),
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
    get createLimit() {
      return store.createLimitReached(context.maxCreates, key, recorded)
    },
    massMissing:
      observed.status === 'missing' ? countMassMissing(context, recorded, observed.misses) : undefined,
    knownIds: knownIds(store, recorded),
    listed: listedFor(context, input),
  }
}

function isUnfound({ catalog }: StateStore, key: Key): boolean {
  const unfound = catalog?.problem?.unfound
  return unfound === 'all' || unfound?.has(key) === true
}

/** Conditions of an earlier process might be outdated. */
function isReady(store: StateStore, key: Key): boolean {
  const ready = store.record(key)?.conditions?.Ready
  if (!store.judged.has(key) || ready === undefined) return false
  if (ready.status === 'True') return true
  return isReference(key) && (isUnanswered(ready) || FOUND_OUT_BY_ASKING.has(ready.reason))
}

const FOUND_OUT_BY_ASKING: ReadonlySet<Reason> = new Set(['Unavailable', 'AuthFailed'])

function problemOfService(store: StateStore, { name }: ServiceIdentity): ServiceProblem | undefined {
  const service = serviceKey(name)
  const entry = store.entry(service)
  if (entry === undefined || entry.state === 'valid') return undefined
  return { is: entry.state === 'missing' ? 'not found' : 'with errors', service }
}

export function knownIds(store: StateStore, recorded: LedgerRecord): readonly string[] {
  const { key, service, platformName } = recorded
  if (service === undefined || undecidedIntent(recorded) === undefined) return []
  const ids: string[] = []
  for (const other of store.createdIn(service.serviceId, key)) {
    const record = other === key ? undefined : store.record(other)
    if (record?.remote !== undefined && record.platformName === platformName) ids.push(record.remote.id)
  }
  return ids
}
