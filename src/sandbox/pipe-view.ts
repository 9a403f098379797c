import type { Dialect } from './dialect.ts'
import type { PipeInSandbox, PipeView, StoredPipe } from './stored.ts'

/** How pipes are shown. */
export interface Views {
  /** How long a new one is `Provisioning`: ms. */
  readonly provisioningMs: number
  /** How long it is in each state that it only goes through: ms. */
  readonly movingMs: number
  /** For how long after its size was set replies do not show it: ms. */
  readonly scalingLagMs: number
  readonly dialect: Dialect
}

type ViewsNow = Views & { readonly now: number }

/** What a pipe looks like at `now` (ms). */
export function viewPipe(pipe: StoredPipe, views: ViewsNow): PipeView {
  const { now, scalingLagMs, dialect } = views
  const { name, state: _seen, ...parts } = pipe.body
  const scaledAt = pipe.internals?.scaledAt
  const isScaling = scaledAt !== undefined && now - scaledAt < scalingLagMs
  return {
    id: pipe.id,
    serviceId: pipe.serviceId,
    name: typeof name === 'string' ? name : '',
    state: stateOf(pipe, views),
    ...dialect.spelled(isScaling ? { ...parts, scaling: { replicas: 0 } } : parts),
    createdAt: dialect.timestamp(pipe.createdAt),
    updatedAt: dialect.timestamp(pipe.updatedAt),
  }
}

/** A pipe as the sandbox's owner sees it. */
export function viewInSandbox(pipe: StoredPipe, views: ViewsNow): PipeInSandbox {
  return {
    ...viewPipe(pipe, views),
    organizationId: pipe.organizationId,
    ...(views.dialect.changes && { credentialsRevision: pipe.internals?.credentialsRevision ?? 0 }),
  }
}

/**
 * Follows from the time, so that it moves on without a timer and across restarts: `Provisioning` for `provisioningMs` after the
 * creation, then where it settles; after a command through the states that this leads to. Unless somebody set it.
 */
export function stateOf({ body, createdAt, internals }: StoredPipe, views: ViewsNow): string {
  const { now, provisioningMs, movingMs, dialect } = views
  if (typeof body['state'] === 'string') return body['state']
  if (internals?.moves === undefined)
    return now - createdAt < provisioningMs ? 'Provisioning' : dialect.settledState(body)
  const { since, states } = internals.moves
  const index = states.findIndex((_state, at) => now - since < (at + 1) * movingMs)
  return states[index] ?? states.at(-1) ?? dialect.settledState(body)
}
