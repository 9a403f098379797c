import type { Clock } from '../lib/clock.ts'
import type { Event } from '../contract/events.ts'
import { isUnseen, type Problem, type ResourceView } from '../contract/view.ts'
import { createLog } from './logger.ts'
import { Registry, collectDefaultMetrics, type Gauge } from 'prom-client'
import { countEvent } from './event-table.ts'
import { boundLabels, createInstruments, type Instruments, type LabelBound } from './instruments.ts'
import type { Key } from '../kinds/key.ts'
import { RESOURCE_KINDS, kindNamed } from '../kinds/lookup.ts'
import { STATUSES, isWell } from '../plan/severity.ts'
import { REASONS } from '../plan/reason.ts'
import { printable } from '../lib/shown-text.ts'
import { OTHER } from './metric-definitions.ts'

export interface TelemetryOptions {
  readonly log: Omit<Parameters<typeof createLog>[0], 'clock'>
  readonly clock: Clock
  readonly operations: readonly string[]
  readonly version: string
  readonly board: () => readonly ResourceView[]
  readonly facts: () => {
    readonly isActing: boolean
    readonly withoutLock: number
    readonly withoutManifest: readonly { readonly service: string; readonly count: number }[] | undefined
    readonly problems?: readonly Pick<Problem, 'severity'>[]
    /** Used share of the request budget that is used most: 0–1. */
    readonly budgetUsed: number
  }
  /** Limit. Further resources share the label `_other`. */
  readonly namedResources: number
}

export function createTelemetry(options: TelemetryOptions) {
  const log = createLog({ ...options.log, clock: options.clock })
  const metrics = createMetrics(options)
  return {
    emit: (event: Event) => {
      log.emit(event)
      try {
        metrics.count(event)
      } catch (error) {
        log.tellFault(event, error)
      }
    },
    metrics,
    /** Later events can be lost. */
    close: async () => {
      await log.close()
      metrics.close()
    },
  }
}

/** Removed, because prom-client names these gauges like counters. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

function createMetrics(options: TelemetryOptions) {
  const registry = new Registry()
  const instruments = createInstruments(registry, options.operations)
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  instruments.build_info.set({ version: options.version, node_version: process.version }, 1)
  const showBoard = createBoardGauges(instruments, options.namedResources)
  const countWithoutManifest = withoutManifestGauge(instruments, options.namedResources)
  return {
    count: (event: Event) => countEvent(instruments, event, options.clock),
    async render() {
      showBoard(options.board(), options.clock.monotonic())
      const { isActing, withoutLock, withoutManifest = [], problems = [], budgetUsed } = options.facts()
      instruments.leader.set(isActing ? 1 : 0)
      countWithoutManifest(withoutManifest)
      for (const severity of ['warning', 'critical'] as const)
        instruments.problems.set({ severity }, problems.filter((one) => one.severity === severity).length)
      instruments.pipes_without_lock.set(withoutLock)
      instruments.api_budget_used_ratio.set(budgetUsed)
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
    close: () => registry.clear(),
  }
}

const LONGEST_STATE = 100

/** Limit, because a platform can send any state. */
const STATES_PER_KIND = 20

function createBoardGauges(metrics: Instruments, namedResources: number) {
  /** By key, because names are unique only within a kind. */
  const keys = boundLabels(namedResources)
  const showInfo = createResourceInfo(metrics.resource_info, namedResources)
  const states = new Map<string, LabelBound>()
  return (resources: readonly ResourceView[], steadyNow: number): void => {
    keys.retain(resources.filter(isNamed).map(({ key }) => key))
    countStatuses(metrics, resources)
    showInfo(resources)
    showTimes(metrics, resources, steadyNow)
    for (const [kind, gauge] of metrics.states) {
      const bound = states.getOrInsertComputed(kind, () => boundLabels(STATES_PER_KIND))
      const ofKind = resources.filter((resource) => resource.kind === kind)
      countStates(gauge, ofKind, keys, bound)
    }
    countDrift(metrics.drift_fields, resources.filter(isNamed), keys)
  }
}

function withoutManifestGauge(
  { pipes_without_manifest: gauge }: Pick<Instruments, 'pipes_without_manifest'>,
  namedServices: number,
) {
  const services = boundLabels(namedServices)
  return (found: readonly { readonly service: string; readonly count: number }[]): void => {
    gauge?.reset()
    services.retain(found.map(({ service }) => service))
    for (const { service, count } of found) gauge?.inc({ service_name: services.label(service) }, count)
  }
}

function countStatuses(metrics: Instruments, resources: readonly ResourceView[]): void {
  for (const kind of RESOURCE_KINDS) {
    for (const status of STATUSES) metrics.resources.set({ kind, status }, 0)
  }
  for (const reason of Object.keys(REASONS)) metrics.resource_reasons.set({ reason }, 0)
  for (const { kind, status, reason } of resources) {
    metrics.resources.inc({ kind, status })
    metrics.resource_reasons.inc({ reason })
  }
  metrics.create_outcome_unknown.set(resources.filter(isUnknown).length)
  metrics.unsaved_outcomes.set(resources.filter(({ reason }) => reason === 'OutcomeUnsaved').length)
  metrics.create_limit_on.set(resources.some(({ reason }) => reason === 'CreateLimit') ? 1 : 0)
  metrics.orphans.set(resources.filter(({ status }) => status === 'Orphaned').length)
}

function showTimes(metrics: Instruments, resources: readonly ResourceView[], steadyNow: number): void {
  const suspended = resources.filter(({ status }) => status === 'Suspended')
  const since = earliest(suspended.map(({ conditions }) => conditions.Synced.since))
  metrics.suspended_since_timestamp_seconds.set(Number.isFinite(since) ? since / 1_000 : 0)
  const due = earliest(resources.map(({ dueAt = Infinity }) => dueAt))
  metrics.reconcile_overdue_seconds.set(Math.max(0, steadyNow - due) / 1_000)
}

/** Not `Math.min(...times)`, because too many arguments throw. */
function earliest(times: readonly number[]): number {
  return times.reduce((first, time) => Math.min(first, time), Infinity)
}

/** Looks at the conditions: an orphan with an unknown outcome has the status `Orphaned`. */
function isUnknown({ conditions }: ResourceView): boolean {
  return Object.values(conditions).some(({ reason }) => reason === 'OutcomeUnknown')
}

function countStates(
  gauge: Gauge<'name' | 'state'>,
  resources: readonly ResourceView[],
  keys: LabelBound,
  states: LabelBound,
): void {
  gauge.reset()
  const shown = resources.flatMap((resource) =>
    resource.state === undefined ? [] : [{ resource, state: stateLabel(resource.state) }],
  )
  states.retain(shown.map(({ state }) => state))
  for (const { resource, state } of shown)
    gauge.inc({ name: keys.label(resource.key, resource.name), state: states.label(state) })
}

function stateLabel(state: string): string {
  return printable(state.slice(0, LONGEST_STATE)).replaceAll(/\s/g, ' ').toWellFormed()
}

function countDrift(
  gauge: Instruments['drift_fields'],
  resources: readonly ResourceView[],
  keys: LabelBound,
): void {
  gauge.reset()
  for (const { key, kind, name, differences } of resources)
    gauge.inc({ kind, name: keys.label(key, name) }, differences.length)
}

function isNamed({ kind }: ResourceView): boolean {
  return kindNamed(kind)?.lifecycle !== 'reference'
}

const MOST_GROUPS = 100

type Said = Pick<ResourceView, 'status' | 'reason'>

function createResourceInfo(gauge: Instruments['resource_info'], namedResources: number) {
  const teams = boundLabels(MOST_GROUPS)
  const services = boundLabels(MOST_GROUPS)
  let seen: ReadonlyMap<Key, Said> = new Map()
  return (resources: readonly ResourceView[]): void => {
    seen = new Map(
      resources.flatMap((resource): readonly (readonly [Key, Said])[] => {
        const last = isUnseen(resource) ? seen.get(resource.key) : resource
        return last === undefined || isWell(last) ? [] : [[resource.key, last]]
      }),
    )
    gauge.reset()
    teams.retain(resources.map(teamOf))
    services.retain(resources.map(serviceOf))
    const named = namedFirst(resources, namedResources)
    for (const resource of resources) {
      const labels = {
        kind: resource.kind,
        name: named.has(resource) ? resource.name : OTHER,
        service_name: services.label(serviceOf(resource)),
        team: teams.label(teamOf(resource)),
      }
      for (const { status, reason } of allSaid(resource, seen.get(resource.key)))
        gauge.inc({ ...labels, status, reason })
    }
  }
}

/** All problems of a resource, because its status shows only the worst. */
function allSaid(resource: ResourceView, before: Said | undefined): readonly Said[] {
  if (isWell(resource)) return [resource]
  const { Valid, Synced, Ready } = resource.conditions
  const hidden = [Valid, Synced, Ready]
    .filter(({ status }) => status !== 'True')
    .map(({ reason }) => ({ status: REASONS[reason].status, reason }))
    .concat(before === undefined || !isUnseen(resource) ? [] : before)
    .filter((one) => !isWell(one))
  return [...new Map([...hidden, resource].map((one) => [one.reason, one])).values()]
}

function namedFirst(resources: readonly ResourceView[], limit: number): ReadonlySet<ResourceView> {
  if (resources.length <= limit) return new Set(resources)
  const inNeed = resources.filter((resource) => !isWell(resource))
  return new Set([...inNeed, ...resources.filter(isWell)].slice(0, limit))
}

function teamOf({ labels }: ResourceView): string {
  return (Object.hasOwn(labels, 'team') ? labels['team'] : undefined) ?? ''
}

function serviceOf({ service }: ResourceView): string {
  return service ?? ''
}
