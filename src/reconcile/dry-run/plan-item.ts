import { dependencyWaits } from '../../plan/gates.ts'
import { observedForDiff, beforeWhole } from '../../kinds/compare-body.ts'
import { isReadable } from '../../kinds/definition.ts'
import { parseKey, type Key } from '../../kinds/key.ts'
import { remoteNameOf } from '../../kinds/lookup.ts'
import { expectedOf, fieldsOf, kindFor } from '../../kinds/profile.ts'
import type { ResourceManifest } from '../../kinds/manifest.ts'
import { groupInService } from '../state/listings.ts'
import { maskSensitive, maskTexts, replyMask } from '../../kinds/mask.ts'
import type { Difference } from '../../kinds/difference.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { PlanItem, Verdict } from '../../contract/plan.ts'
import { bodyIn } from '../../contract/view.ts'
import { explained, type Explanation, type Reason, REASONS } from '../../plan/reason.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { type Action, CHANGES } from '../../plan/action.ts'
import type { Basis, ReconcileContext, ReconcileResult } from '../context.ts'
import { thereNow } from '../gather/observed-configuration.ts'
import type { StateStore } from '../state/store.ts'

export function decisiveRun(before: ReconcileResult | undefined, now: ReconcileResult): ReconcileResult {
  return before !== undefined && didSomething(before) ? before : now
}

function didSomething({ action: { type }, outcome, movedFrom }: ReconcileResult): boolean {
  return movedFrom !== undefined || (CHANGES.has(type) && outcome.result === 'done')
}

type World = Pick<ReconcileContext, 'profile' | 'store'>

export function planItemOf(world: World, key: Key, run: ReconcileResult): PlanItem {
  const { profile, store } = world
  const { action, assessment, movedFrom } = run
  const entry = store.entry(key)
  const record = store.record(key) ?? run.assessment?.input.recorded
  const { reason, because } = explain(store, key, run)
  const drifted = driftOf(run)
  const differences = drifted.length > 0 ? drifted : action.type === 'report' ? action.differences : []
  const manifest = entry?.manifest
  const kind = kindFor(profile, { key, manifest, record })
  const outline = kind.lifecycle === 'create-once' && manifest !== undefined ? kind.outline?.(manifest) : {}
  return {
    key,
    action: isToBeDeleted(action) ? 'delete' : action.type,
    reason,
    because,
    verdict: verdictOf(run, reason),
    after: dependenciesOf(manifest),
    waitsFor: dependencyWaits(action).length > 0 ? (assessment?.input.surroundings.notReady ?? []) : [],
    renamedFrom: movedFrom,
    service: serviceOfItem(run, record),
    outline: outline ?? {},
    platformName: manifest && kind.lifecycle === 'create-once' ? remoteNameOf(manifest) : undefined,
    remoteId: action.type === 'adopt' ? action.facts.pipeId : assessment?.input.recorded.remote?.id,
    ...bodiesOf(world, key, run, differences),
    differences,
    ...accessOf(store, run),
    uncheckedSecrets: (assessment?.secrets.missing ?? []).map(({ file }) => secretName(file)).toSorted(),
    file: entry?.position.file ?? record?.file,
    line: entry?.position.line ?? record?.line,
  }
}

export function settledItem(store: StateStore, key: Key, because: Explanation): PlanItem {
  const entry = store.entry(key)
  const record = store.record(key)
  return {
    ...NOTHING_DONE,
    key,
    reason: because.reason,
    because,
    after: dependenciesOf(entry?.manifest),
    service: record?.service,
    platformName: entry?.manifest && remoteNameOf(entry.manifest),
    remoteId: record?.remote?.id,
    file: entry?.position.file ?? record?.file,
    line: entry?.position.line ?? record?.line,
  }
}

const NOTHING_DONE = {
  action: 'observe',
  verdict: 'unchanged',
  waitsFor: [],
  renamedFrom: undefined,
  outline: {},
  before: undefined,
  desired: undefined,
  differences: [],
  gives: [],
  takesAway: [],
  uncheckedSecrets: [],
} as const

function dependenciesOf(manifest: ResourceManifest | undefined): readonly Key[] {
  return (manifest?.policy?.dependsOn ?? []).flatMap((text) => parseKey(text) ?? [])
}

function said({ reason, facts }: Explanation): Pick<PlanItem, 'reason' | 'because'> {
  return { reason, because: explained({ reason, facts }) }
}

function explain(store: StateStore, key: Key, run: ReconcileResult): Pick<PlanItem, 'reason' | 'because'> {
  const { action, outcome } = run
  if (outcome.result === 'failed') return said(outcome)
  if (action.type === 'adopt' && driftOf(run).length > 0) {
    const telling = outcome.result === 'done' && outcome.reason !== undefined ? outcome : action
    return { reason: action.reason, because: said(telling).because }
  }
  const ready = store.record(key)?.conditions?.Ready
  return action.type === 'observe' && action.reason !== 'Unobserved' && ready?.status === 'False'
    ? said(ready)
    : said(action)
}

function driftOf({ outcome }: ReconcileResult): readonly Difference[] {
  return outcome.result === 'done' ? outcome.differences : []
}

function serviceOfItem(
  { action, assessment }: ReconcileResult,
  record: LedgerRecord | undefined,
): PlanItem['service'] {
  const desired = assessment?.service.usable === true ? assessment.service.identity : undefined
  return action.type === 'report' ? (record?.service ?? desired) : (desired ?? record?.service)
}

function isToBeDeleted(action: Action): boolean {
  if (action.type !== 'hold') return false
  return action.reason === 'Deleting' && action.facts.removal.is === 'later'
}

function verdictOf({ action, outcome, movedFrom }: ReconcileResult, reason: Reason): Verdict {
  if (outcome.result === 'failed') return REASONS[outcome.reason].status === 'Refused' ? 'refused' : 'failed'
  if (outcome.result !== 'done') return 'failed'
  switch (action.type) {
    case 'create':
    case 'adopt':
    case 'upsert':
    case 'update':
    case 'delete':
      return 'change'
    case 'refuse':
      return 'refused'
    case 'report':
      return action.reason === 'NotUpdatable' ? 'refused' : 'attention'
    case 'hold':
      if (isToBeDeleted(action)) return 'change'
      return isRefused(action) ? 'refused' : 'held'
    case 'observe':
      if (movedFrom !== undefined) return 'change'
      if (action.reason === 'Unobserved' && action.facts.why !== 'not answered') return 'failed'
      return reason === action.reason ? 'unchanged' : 'attention'
  }
}

function isRefused({ reason, facts }: Action): boolean {
  return reason === 'InvalidManifest' || (reason === 'BackingOff' && typeof facts.after === 'object')
}

function bodiesOf(
  world: World,
  key: Key,
  { action, assessment, outcome }: ReconcileResult,
  differences: readonly Difference[],
): Pick<PlanItem, 'before' | 'desired'> {
  const manifest = assessment?.entry?.manifest
  const asked = manifest && expectedOf(world.profile, manifest)
  const isShown =
    ((CHANGES.has(action.type) || dependencyWaits(action).length > 0) && outcome.result === 'done') ||
    differences.length > 0 ||
    action.reason === 'NotUpdatable' ||
    action.reason === 'Deleting'
  if (asked === undefined || !isShown) return NOTHING_SHOWN
  const before = action.type === 'create' ? undefined : beforeOf(world, key, assessment, asked)
  if (action.type === 'report' && before === undefined) return NOTHING_SHOWN
  return { before: before && maskSensitive(before), desired: maskSensitive(asked) }
}

const NOTHING_SHOWN = { before: undefined, desired: undefined } as const

function beforeOf(
  { profile, store }: World,
  key: Key,
  assessment: Basis | undefined,
  asked: JsonObject,
): JsonObject | undefined {
  const fields = fieldsOf(profile, key)
  if (assessment?.input.lifecycle === 'upsert') {
    const reply = lastReply(store, assessment)
    if (reply === undefined || Object.keys(reply).length === 0) return undefined
    return maskTexts(beforeWhole(fields, asked, reply), replyMask(assessment.input, asked))
  }
  const observed = bodyIn(store.observation(key)?.reply)
  return observed && observedForDiff(fields, asked, observed)
}

/** Access that the upsert gives or takes away, even while the upsert waits for a dependency. */
function accessOf(
  store: StateStore,
  { action, assessment }: ReconcileResult,
): Pick<PlanItem, 'gives' | 'takesAway'> {
  const input = assessment?.input
  if (input?.lifecycle === 'upsert' && (action.type === 'delete' || isToBeDeleted(action))) {
    const reply = input.recorded.upsert?.reply ?? {}
    return { gives: [], takesAway: input.kind.takenAway(reply, {}).map(input.mask) }
  }
  const comes = action.type === 'upsert' || dependencyWaits(action).length > 0
  if (!comes || input?.lifecycle !== 'upsert' || assessment?.body === undefined)
    return { gives: [], takesAway: [] }
  const reply = lastReply(store, assessment) ?? {}
  const { kind } = input
  return {
    gives: kind.takenAway(assessment.body, reply),
    takesAway: kind.takenAway(reply, assessment.body).map(input.mask),
  }
}

function lastReply(store: StateStore, { input, service }: Basis): JsonObject | undefined {
  if (input.lifecycle === 'upsert' && isReadable(input.kind)) return thereNow(input.observed)
  const own = input.desired.otherService ? undefined : input.recorded.upsert?.reply
  if (own !== undefined || !service.usable) return own
  const { key } = input.desired
  const group = groupInService(key, service.identity.serviceId)
  const isSame = (other: LedgerRecord) =>
    other.key !== key &&
    other.upsert?.reply !== undefined &&
    groupInService(other.key, other.service?.serviceId ?? '') === group
  return [...store.records()].findLast(isSame)?.upsert?.reply
}

function secretName(file: string): string {
  return file.split(/[/\\]/).slice(-2).join('/')
}
