import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import type { Finding } from '../../src/kinds/finding.ts'
import { kindOf, nameOf, type Key } from '../../src/kinds/key.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Condition } from '../../src/plan/condition.ts'
import type { Event } from '../../src/contract/events.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'
import { withConditions, type ResourceView, type StatusBoard } from '../../src/contract/view.ts'
import { createProblemTracker } from '../../src/reconcile/state/problem-tracker.ts'
import { type PageUpdate, createRecentEvents } from '../../src/server/recent-events.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import type { Operator, Overview, ServerParts } from '../../src/server/parts.ts'

export const NOW = Date.UTC(2026, 5, 1, 12)

export const REVISION = '4f2a9c1be07d5a8863c1f0e2d9b7a6c5d4e3f201'

export function condition(status: Condition['status'], over: Partial<Condition> = {}): Condition {
  const known = over.reason === undefined && { facts: { as: 'create-once' } as const }
  return { status, reason: 'InSync', ...known, since: NOW - 60_000, ...over }
}

/** Each is True, except for `over`. */
export function conditions(over: Partial<ResourceView['conditions']> = {}): ResourceView['conditions'] {
  const synced = condition('True')
  return { Valid: condition('True', { reason: 'Valid' }), Synced: synced, Ready: synced, ...over }
}

/** What is other than in a resource that is well; bodies as objects. */
export type Over = Partial<Omit<ResourceView, 'reply' | 'since'>> & {
  readonly observed?: JsonObject | undefined
  /** Words of others, as the message. */
  readonly message?: string
}

/** A resource that is well, but for what `over` says. */
export function resource(key: Key, over: Over = {}): ResourceView {
  const { observed, message, ...facts } = over
  const view: ResourceView = {
    key,
    kind: kindOf(key),
    name: nameOf(key),
    labels: {},
    status: 'Ready',
    conditions: conditions(),
    action: 'observe',
    reason: 'InSync',
    because:
      message === undefined
        ? { reason: 'InSync', facts: { as: 'create-once' } }
        : { reason: 'Rejected', facts: { said: message } },
    differences: [],
    file: `pipes/${nameOf(key)}.yaml`,
    line: 3,
    checkedAt: undefined,
    manifestRevision: REVISION,
    service: 'analytics',
    pipeId: undefined,
    state: undefined,
    reply: observed && (() => JSON.stringify(observed)),
    since: NOW,
    intent: undefined,
    appliedAt: undefined,
    lastReconciledAt: NOW - 30_000,
    nextReconcileAt: NOW + 270_000,
    suspendedUntil: undefined,
    ...facts,
  }
  return withConditions(view, view.conditions, view)
}

export function finding(over: Partial<Finding> = {}): Finding {
  return {
    file: 'pipes/orders.yaml',
    line: 7,
    column: 3,
    endColumn: 10,
    severity: 'error',
    code: 'unknown-field',
    message: 'There is no field "replcas".',
    hint: 'Did you mean "replicas"?',
    lineText: '  replcas: 2',
    key: undefined,
    related: [],
    ...over,
  }
}

export function boardOf(resources: readonly ResourceView[]): StatusBoard {
  const byKey = new Map(resources.map((one) => [one.key, one]))
  const list = [...byKey.values()]
  return { get: (key) => byKey.get(key), list: () => list }
}

function problemsOf(resources: readonly ResourceView[]): ServerParts['problem'] {
  const tracker = createProblemTracker(
    { clock: createFakeClock(NOW), emit: () => undefined },
    boardOf(resources),
  )
  return (key) => tracker.of(key)
}

export function overview(over: Partial<Overview> = {}): Overview {
  return {
    version: '0.1.0',
    sandbox: false,
    profile: { name: 'default' },
    config: undefined,
    revision: { id: REVISION, from: 'git-sync' },
    revisionSince: undefined,
    manifestsDir: 'manifests',
    repositoryUrl: undefined,
    adminTokenFile: undefined,
    sourceProblem: undefined,
    sourceReason: undefined,
    findings: [],
    overdue: 0,
    withoutLock: 0,
    withoutManifest: undefined,
    queueDepth: { 0: 0, 1: 0, 2: 0 },
    createLimit: { limit: 25, held: 0, services: [] },
    standsBy: false,
    leader: undefined,
    unconfirmed: undefined,
    olderThan: undefined,
    ledgerRollback: undefined,
    watchMode: 'parent',
    startedAt: NOW - 3_600_000,
    now: NOW,
    lastLoadAt: NOW - 40_000,
    budgets: [],
    pauses: [],
    ...over,
  }
}

const notHere = () => {
  throw new Error('the test does not ask for this')
}

/** @param over what the test asks for */
export function fakeOperator(over: Partial<Operator>): Operator {
  return {
    adminToken: async () => undefined,
    ownerToken: 'the-token-of-the-owner',
    request: notHere,
    progress: () => undefined,
    allow: notHere,
    operate: notHere,
    plan: notHere,
    ...over,
  }
}

export interface FakeParts extends ServerParts {
  readonly clock: FakeClock
  /** What happened; for the recent events. */
  tell(event: Event): void
  change(change: PageUpdate): void
  subscribers(): number
}

export function fakeParts(
  over: Partial<Omit<ServerParts, 'clock'>> = {},
  resources: readonly ResourceView[] = [],
  history: readonly HistoryEntry[] = [],
): FakeParts {
  const listeners = new Set<(change: PageUpdate) => void>()
  const recentEvents = createRecentEvents(() => NOW)
  return {
    profile: DEFAULT,
    listen: { host: '127.0.0.1', port: 0 },
    metricsListen: undefined,
    hosts: { allowed: [], publicUrl: undefined },
    emit: () => undefined,
    clock: createFakeClock(NOW),
    board: boardOf(resources),
    problem: problemsOf(resources),
    desired: () => undefined,
    manifest: () => undefined,
    recentEvents: {
      source: () => recentEvents.source(),
      states: (key) => recentEvents.states(key),
      get lastReading() {
        return recentEvents.lastReading
      },
      get watch() {
        return recentEvents.watch
      },
      get missedChanges() {
        return recentEvents.missedChanges
      },
      subscribe(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    },
    history: async ({ key, limit }) =>
      history.filter((entry) => key === undefined || entry.key === key).slice(0, limit),
    metrics: {
      render: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'a_metric 1\n' }),
    },
    health: () => ({ ok: true, detail: 'the queue moves' }),
    ready: () => ({ ok: true, detail: 'ready' }),
    overview: () => overview(),
    commands: { manifestsDir: 'manifests' },
    operator: fakeOperator({ adminToken: undefined }),
    tell: (event) => recentEvents.add(event),
    change: (change) => listeners.forEach((listener) => listener(change)),
    subscribers: () => listeners.size,
    ...over,
  }
}

/** An overview in which the create limit holds back 30 creations in each of these services. */
export function limited(...services: readonly string[]): Overview['createLimit'] {
  return {
    limit: 25,
    held: 30 * services.length,
    services: services.map((service) => ({ service, held: 30 })),
  }
}
